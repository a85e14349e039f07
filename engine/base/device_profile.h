// A device profile: what code generation and the session need to know of a device, as plain data.
//
// It is read from a device by a backend, or named for ahead-of-time compilation. It is not a
// handle: nothing here talks to a driver. A profile that is compiled for is a promise of the
// device's limits; the artifact's variants list what they really need, and the session compares
// that with the device.
//
// Threads: values; namedProfile and profileNames may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gantry {

/// Names are those of the Vulkan features.
struct DeviceFeatures {
  bool shaderInt64 = false;
  bool shaderInt8 = false;
  bool shaderInt16 = false;
  bool shaderFloat16 = false;
  bool shaderFloat64 = false;
  bool storageBuffer8BitAccess = false;
  bool storageBuffer16BitAccess = false;
  bool bufferDeviceAddress = false;
  bool subgroupShuffle = false; // in compute shaders, and all subgroups are of subgroupSize
};

struct DeviceProfile {
  std::string name;                     // "vulkan:generic", or the device's own name
  std::string backend;                  // "vulkan"
  uint32_t maxSharedMemoryBytes = 0;    // per workgroup
  uint32_t maxWorkgroupInvocations = 0; // product of a workgroup's three sizes
  std::array<uint32_t, 3> maxWorkgroupSize{};
  std::array<uint32_t, 3> maxWorkgroupCount{};
  uint32_t maxPushConstantBytes = 0;
  uint64_t maxStorageBufferRange = 0;     // bytes of one storage-buffer binding
  uint64_t maxAllocationBytes = 0;        // of one driver allocation
  uint32_t maxStorageBuffersPerStage = 0; // storage-buffer bindings of one kernel
  // Read-only buffers may be bound as texel buffers: four elements a fetch (artifact.fbs, Binding).
  uint64_t maxTexelBufferElements = 0;  // texels of one view; 0: it binds no texel buffers
  uint64_t texelBufferAlignment = 256;  // bytes, of the start of a view
  uint32_t maxTexelBuffersPerStage = 0; // texel-buffer bindings of one kernel
  uint32_t maxResourcesPerStage = 0;    // storage and texel buffers of one kernel together
  bool preferTexelLoads = false;        // whether they are the fastest way to read
  uint32_t subgroupSize = 1;            // 1: not known; kernels use no subgroup operation
  bool preferAddressBinding = false;    // whether addresses are the faster way to bind buffers
  uint32_t preferredWorkgroupSize = 0;  // invocations
  uint32_t registerTileElements = 0;    // 32-bit accumulators that a thread should hold at most
  DeviceFeatures features;
};

/// kNotFound, with the names that exist, for any other name.
Result<DeviceProfile> namedProfile(const std::string &name);

/// The name of the profile to compile for when a program will run on this device: one made for it
/// where there is one, else "vulkan:generic".
std::string profileNameFor(const DeviceProfile &device);

/// The names that namedProfile knows, sorted.
std::vector<std::string> profileNames();

} // namespace gantry

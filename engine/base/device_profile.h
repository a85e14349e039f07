// A device profile: what code generation and the session need to know of a device, as plain data.
//
// It is read from a device by a backend, or named for ahead-of-time compilation. It is not a
// handle: nothing here talks to a driver. A profile that is compiled for is a promise of the
// device's limits; the artifact's variants list what they really need, and the session compares
// that with the device. The named ones are in named_profiles.cpp.
//
// Threads: values; namedProfile and profileNames may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gantry {

/// Names are those of the Vulkan features, but for the last four.
struct DeviceFeatures {
  bool shaderInt64 = false;
  bool shaderInt8 = false;
  bool shaderInt16 = false;
  bool shaderFloat16 = false;
  bool shaderFloat64 = false;
  bool storageBuffer8BitAccess = false;
  bool storageBuffer16BitAccess = false;
  bool bufferDeviceAddress = false;
  // In compute kernels, and all subgroups are of subgroupSize.
  bool subgroupShuffle = false;    // subgroupShuffle
  bool subgroupArithmetic = false; // subgroupAdd, subgroupMax …
  bool subgroupVote = false;       // subgroupAll, subgroupAny
  // Of four signed bytes in a word, added to 32 bits; on a GPU, faster than multiply-adds.
  bool integerDotProduct = false;
};

enum class MatrixElement : uint8_t { kF16, kF32, kI8, kI32 };

/// A multiplication that the device does on matrices spread over a subgroup
/// (VK_KHR_cooperative_matrix): result [m, n] = a [m, k] · b [k, n] + c [m, n].
struct MatrixShape {
  uint32_t m = 0, n = 0, k = 0;
  MatrixElement operand = MatrixElement::kF16; // of a and b
  MatrixElement result = MatrixElement::kF32;  // of c and the result
  bool operator==(const MatrixShape &) const = default;
};

/// What a kernel that uses it needs of a device, as an artifact's variants say it:
/// "cooperativeMatrix 16x16x16 f16 f32".
std::string capabilityOf(const MatrixShape &shape);

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
  uint64_t maxLoopRounds =
      0; // after which the driver stops a kernel's loops, all together; 0: never
  uint32_t subgroupSize = 1;           // 1: not known; kernels use no subgroup operation
  uint32_t minSubgroupSize = 1;        // those that a kernel can ask for, with
  uint32_t maxSubgroupSize = 1;        // subgroupSizeControl; else both are subgroupSize
  bool stageOperands = false;          // whether kernels gain by going through shared memory
  bool preferAddressBinding = false;   // whether addresses are the faster way to bind buffers
  uint32_t preferredWorkgroupSize = 0; // invocations
  uint32_t registerTileElements = 0;   // 32-bit accumulators that a thread should hold at most
  DeviceFeatures features;
  std::vector<MatrixShape> matrixShapes; // best first; empty: the device multiplies no matrices
  uint32_t matrixSubgroupSize = 0;       // of kernels that do; 0: subgroupSize
  // Estimates for the cost model; nothing is refused by them. 0: not known.
  uint32_t computeUnits =
      0; // what runs workgroups: multiprocessors, compute units, Xe-cores, cores
  uint64_t l1CacheBytes = 0;   // of one compute unit
  uint64_t lastCacheBytes = 0; // of the last cache before memory that all units share
};

/// kNotFound, with the names that exist, for any other name.
Result<DeviceProfile> namedProfile(const std::string &name);

/// The name of the profile to compile for when a program will run on this device: one made for its
/// generation, as its name tells, where there is one and the device keeps all of its promises
/// (meets); else "vulkan:generic".
std::string profileNameFor(const DeviceProfile &device);

/// Whether what is compiled for a profile may run on a device: no limit of the device is below the
/// profile's, it has the features, and it runs kernels with subgroups of that size. Matrix shapes
/// are not compared: which of them a kernel needs, and in subgroups of what size, is in its
/// artifact.
bool meets(const DeviceProfile &device, const DeviceProfile &profile);

/// The names that namedProfile knows, sorted.
std::vector<std::string> profileNames();

} // namespace gantry

// A device profile: the limits, features and preferences of a device that code generation and the
// session need, as plain data.
//
// A backend reads a profile from its device; named profiles (named_profiles.cpp) serve
// ahead-of-time compilation. A profile is not a handle: nothing here talks to a driver. The
// compiler assumes that the device keeps the limits of the profile it compiles for. Each variant of
// an artifact lists what it really needs, and the session compares that list with the device.
//
// Threads: profiles are values; the functions may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gantry {

/// Optional abilities of a device. The names are those of the Vulkan features, except for the last
/// four.
struct DeviceFeatures {
  bool shaderInt64 = false;
  bool shaderInt8 = false;
  bool shaderInt16 = false;
  bool shaderFloat16 = false;
  bool shaderFloat64 = false;
  bool storageBuffer8BitAccess = false;
  bool storageBuffer16BitAccess = false;
  bool bufferDeviceAddress = false;
  // Subgroup operations in compute kernels whose subgroups all have subgroupSize lanes.
  bool subgroupShuffle = false;    // subgroupShuffle
  bool subgroupArithmetic = false; // subgroupAdd, subgroupMax …
  bool subgroupVote = false;       // subgroupAll, subgroupAny
  // The dot product of two vectors of four int8, accumulated in int32, is one fast instruction.
  bool integerDotProduct = false;
};

enum class MatrixElement : uint8_t { kF16, kF32, kI8, kI32 };

/// The shape of a cooperative-matrix multiply-add (VK_KHR_cooperative_matrix), which the lanes of a
/// subgroup compute together: result [m, n] = a [m, k] · b [k, n] + c [m, n].
struct MatrixShape {
  uint32_t m = 0, n = 0, k = 0;
  MatrixElement operand = MatrixElement::kF16; // Element type of a and b.
  MatrixElement result = MatrixElement::kF32;  // Element type of c and the result.
  bool operator==(const MatrixShape &) const = default;
};

/// The requirement that a variant lists if a kernel of it uses this shape:
/// "cooperativeMatrix 16x16x16 f16 f32".
std::string capabilityOf(const MatrixShape &shape);

struct DeviceProfile {
  std::string name;                     // "vulkan:generic", or the device's own name
  std::string backend;                  // "vulkan"
  uint32_t maxSharedMemoryBytes = 0;    // Shared memory of one workgroup.
  uint32_t maxWorkgroupInvocations = 0; // Product of a workgroup's three sizes.
  std::array<uint32_t, 3> maxWorkgroupSize{};
  std::array<uint32_t, 3> maxWorkgroupCount{};
  uint32_t maxPushConstantBytes = 0;
  uint64_t maxStorageBufferRange = 0;     // Bytes of one storage-buffer binding.
  uint64_t maxAllocationBytes = 0;        // Bytes of one driver allocation.
  uint32_t maxStorageBuffersPerStage = 0; // Storage-buffer bindings of one kernel.
  // Read-only buffers may be bound as texel buffers: one fetch reads four elements (artifact.fbs,
  // Binding).
  uint64_t maxTexelBufferElements = 0;  // Texels of one view; 0: no texel buffers.
  uint64_t texelBufferAlignment = 256;  // Alignment of a view's start, in bytes.
  uint32_t maxTexelBuffersPerStage = 0; // Texel-buffer bindings of one kernel.
  uint32_t maxResourcesPerStage = 0;    // Storage and texel buffers of one kernel together.
  bool preferTexelLoads = false;        // Texel fetches are the fastest loads.
  // Loop iterations of one kernel, over all of its loops, after which the driver ends the loops;
  // 0: no limit.
  uint64_t maxLoopRounds = 0;
  uint32_t subgroupSize = 1; // Lanes; 1: not known, and kernels use no subgroup operation.
  // The subgroup sizes that a kernel can require with the feature subgroupSizeControl; both equal
  // subgroupSize without that feature.
  uint32_t minSubgroupSize = 1;
  uint32_t maxSubgroupSize = 1;
  bool stageOperands = false;          // Kernels gain by staging operands in shared memory.
  bool preferAddressBinding = false;   // Buffer addresses are faster than descriptors.
  uint32_t preferredWorkgroupSize = 0; // Invocations.
  uint32_t registerTileElements = 0;   // Max number of 32-bit accumulators of one thread.
  DeviceFeatures features;
  std::vector<MatrixShape> matrixShapes; // Best first; empty: no cooperative matrices.
  uint32_t matrixSubgroupSize = 0;       // Lanes in kernels with matrices; 0: subgroupSize.
  // Estimates for the cost model; 0: not known. No program is refused because of them.
  uint32_t computeUnits = 0;   // Number of multiprocessors, compute units, Xe-cores or cores.
  uint64_t l1CacheBytes = 0;   // First-level cache of one compute unit.
  uint64_t lastCacheBytes = 0; // Last cache before memory that all compute units share.
};

/// Returns the profile of that name, or kNotFound with a message that lists the existing names.
Result<DeviceProfile> namedProfile(const std::string &name);

/// Returns the name of the profile to compile for when a program will run on this device. That is
/// the profile of the device's generation if the device's name identifies the generation and the
/// device meets() the profile; otherwise it is "vulkan:generic".
std::string profileNameFor(const DeviceProfile &device);

/// Returns whether a program compiled for `profile` may run on `device`: each limit of the device
/// is at least as good as the profile's, the device has the profile's features, and its subgroup
/// size is the profile's. Matrix shapes are not compared, because the artifact lists the shapes and
/// the subgroup sizes that its kernels need.
bool meets(const DeviceProfile &device, const DeviceProfile &profile);

/// The names that namedProfile() accepts, sorted.
std::vector<std::string> profileNames();

} // namespace gantry

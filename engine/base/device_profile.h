// A device profile: the limits, features and preferences of a device, as plain data. Code
// generation needs them, and the session, which runs a program on a device (engine/program).
//
// A backend reads a profile from its device; named profiles (named_profiles.cpp) serve
// ahead-of-time compilation. A profile is not a handle: nothing here calls a driver. The compiler
// assumes that the device has at least the limits of the profile for which it compiles. An artifact
// (a compiled model) may hold several variants of a kernel. Each variant lists the features that it
// needs, and the session compares this list with the device.
//
// Threads: profiles are values; the functions may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gantry {

/// Optional features of a device. The names are those of Vulkan features, except for the last four.
struct DeviceFeatures {
  bool shaderInt64 = false;
  bool shaderInt8 = false;
  bool shaderInt16 = false;
  bool shaderFloat16 = false;
  bool shaderFloat64 = false;
  bool storageBuffer8BitAccess = false;
  bool storageBuffer16BitAccess = false;
  bool bufferDeviceAddress = false;
  // Subgroup operations in compute kernels, where every subgroup has DeviceProfile::subgroupSize
  // lanes. The comments behind the members name the functions in GLSL.
  bool subgroupShuffle = false;    // subgroupShuffle
  bool subgroupArithmetic = false; // subgroupAdd, subgroupMax …
  bool subgroupVote = false;       // subgroupAll, subgroupAny
  // Whether the dot product of two vectors of four int8, accumulated in int32, is one fast
  // instruction.
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

/// Returns the name of the capability that a kernel variant lists if it uses this shape, such as
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
  uint64_t storageBufferAlignment = 256;  // Alignment of a binding's start, in bytes.
  // Read-only buffers may be bound as texel buffers: one fetch reads four elements (artifact.fbs,
  // Binding).
  uint64_t maxTexelBufferElements = 0;  // Texels of one view; 0: no texel buffers.
  uint64_t texelBufferAlignment = 256;  // Alignment of a view's start, in bytes.
  uint32_t maxTexelBuffersPerStage = 0; // Texel-buffer bindings of one kernel.
  uint32_t maxResourcesPerStage = 0;    // Storage and texel buffers of one kernel together.
  bool preferTexelLoads = false;        // Whether texel fetches are the fastest loads.
  // After this number of iterations, counted over all loops of an invocation, the driver ends the
  // loops early; 0: no limit.
  uint64_t maxLoopRounds = 0;
  uint32_t subgroupSize = 1; // Lanes; 1: not known, so kernels use no subgroup operations.
  // The range of subgroup sizes that a kernel can require with the Vulkan feature
  // subgroupSizeControl; both limits equal subgroupSize without that feature.
  uint32_t minSubgroupSize = 1;
  uint32_t maxSubgroupSize = 1;
  bool stageOperands = false; // Whether copies of operands in shared memory make kernels faster.
  bool preferAddressBinding = false;   // Whether addresses are faster than descriptors.
  uint32_t preferredWorkgroupSize = 0; // Invocations.
  uint32_t registerTileElements = 0;   // Max number of 32-bit accumulators of one invocation.
  DeviceFeatures features;
  std::vector<MatrixShape> matrixShapes; // Best first; empty: no cooperative matrices.
  uint32_t matrixSubgroupSize = 0; // Lanes in kernels with cooperative matrices; 0: subgroupSize.
  // Estimates for the cost model, by which the compiler chooses tiles; 0: not known. No program is
  // refused because of them.
  uint32_t computeUnits = 0;       // Number of multiprocessors, compute units, Xe-cores or cores.
  uint32_t invocationsPerUnit = 0; // Invocations that keep one compute unit busy.
  uint64_t l1CacheBytes = 0;       // First-level cache of one compute unit.
  uint64_t lastCacheBytes = 0;     // Last-level cache, which all compute units share.
};

/// Returns the named profile `name`, or kNotFound with a message that lists the existing names.
Result<DeviceProfile> namedProfile(const std::string &name);

/// Returns the name of the profile for which to compile a program that will run on this device: the
/// profile of the device's GPU generation if the device's name identifies the generation
/// (named_profiles.h) and the device meets() that profile, and otherwise "vulkan:generic".
std::string profileNameFor(const DeviceProfile &device);

/// Returns whether a program compiled for `profile` may run on `device`: both have the same
/// backend, each limit of the device is at least as good as the profile's, the device has the
/// profile's features, and the subgroup sizes are equal unless the profile's is 1. Matrix shapes,
/// the ranges of subgroup sizes and maxLoopRounds are not compared, because the artifact lists what
/// each kernel needs of them.
bool meets(const DeviceProfile &device, const DeviceProfile &profile);

/// The names that namedProfile() accepts, sorted.
std::vector<std::string> profileNames();

} // namespace gantry

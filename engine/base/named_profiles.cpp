// One function for each named device profile, and the table of all profiles. docs/profiles.md lists
// the sources that the [keys] cite.
#include "engine/base/named_profiles.h"

namespace gantry {

namespace {

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr uint32_t kNoLimit = UINT32_MAX;

/// The limits that every Vulkan 1.2 device has: the "Required Limits" of the specification, with
/// three exceptions. First, eight storage buffers per stage: the specification promises four, but
/// devices with compute queues report eight or more. Second, 64-bit integers and 8-bit storage:
/// models with int64 tokens or booleans need them. A kernel variant that uses them lists them as
/// requirements, and a session that loads it on a device without them reports the missing feature
/// by name. Third, kernels may use buffer addresses, an optional feature: each kernel is compiled
/// both with descriptors and with addresses, and descriptors are preferred.
DeviceProfile generic() {
  DeviceProfile profile;
  profile.name = "vulkan:generic";
  profile.backend = "vulkan";
  profile.maxSharedMemoryBytes = 16 * kKiB;
  profile.maxWorkgroupInvocations = 128;
  profile.maxWorkgroupSize = {128, 128, 64};
  profile.maxWorkgroupCount = {65535, 65535, 65535};
  profile.maxPushConstantBytes = 128;
  profile.maxStorageBufferRange = 128 * kMiB;
  profile.maxAllocationBytes = 1024 * kMiB;
  profile.maxStorageBuffersPerStage = 8;
  profile.maxTexelBufferElements = 65536;
  profile.texelBufferAlignment = 256;
  profile.maxTexelBuffersPerStage = 16;
  profile.maxResourcesPerStage = 128;
  profile.preferredWorkgroupSize = 64;
  profile.registerTileElements = 32;
  profile.features.shaderInt64 = true;
  profile.features.storageBuffer8BitAccess = true;
  profile.features.bufferDeviceAddress = true;
  return profile;
}

/// Mesa's software device, with the limits that version 22.3 reports. It executes loads and stores
/// lane by lane, and they dominate its run time; texel fetches are vectorised. Kernels therefore
/// use large register tiles, read through texel buffers, write through storage buffers, and avoid
/// shared memory. A subgroup is as wide as a vector register of the processor: eight lanes for 256
/// bits.
DeviceProfile lavapipe() {
  DeviceProfile profile = generic();
  profile.name = "vulkan:lavapipe";
  profile.maxSharedMemoryBytes = 32 * kKiB;
  profile.maxWorkgroupInvocations = 1024;
  profile.maxWorkgroupSize = {1024, 1024, 1024};
  profile.maxAllocationBytes = 2048 * kMiB;
  profile.maxStorageBuffersPerStage = 32;
  profile.storageBufferAlignment = 16;
  profile.maxTexelBufferElements = uint64_t{1} << 27;
  profile.texelBufferAlignment = 16;
  profile.maxTexelBuffersPerStage = 128;
  profile.preferTexelLoads = true;
  profile.subgroupSize = profile.minSubgroupSize = profile.maxSubgroupSize = 8;
  profile.registerTileElements = 64;
  DeviceFeatures &features = profile.features;
  features.shaderInt8 = features.shaderInt16 = true;
  features.shaderFloat16 = features.shaderFloat64 = true;
  features.storageBuffer16BitAccess = true;
  features.subgroupShuffle = features.subgroupArithmetic = features.subgroupVote = true;
  return profile;
}

/// The generic device, with kernels that stage their operands, that is, first copy them to shared
/// memory. It is for GPUs without a profile of their own, which gain from staging, and for tests of
/// staging on devices that do not gain from it.
DeviceProfile staging() {
  DeviceProfile profile = generic();
  profile.name = "vulkan:staging";
  profile.stageOperands = true;
  return profile;
}

/// The generic device with int8 dot products, for tests on devices that do not gain from them.
DeviceProfile dotProducts() {
  DeviceProfile profile = generic();
  profile.name = "vulkan:dot-products";
  profile.features.integerDotProduct = true;
  return profile;
}

/// The generic device with subgroups of eight lanes, for tests on lavapipe. The tests run kernels
/// in which a subgroup shares a tile and reads storage buffers, as kernels for GPUs do.
DeviceProfile subgroups() {
  DeviceProfile profile = generic();
  profile.name = "vulkan:subgroups";
  profile.subgroupSize = profile.minSubgroupSize = profile.maxSubgroupSize = 8;
  profile.features.subgroupShuffle = true;
  return profile;
}

/// The common base of all GPU profiles below: f16 and int8 kernels, buffer addresses, subgroup
/// operations.
DeviceProfile gpu(const char *name, uint32_t subgroupSize) {
  DeviceProfile profile = generic();
  profile.name = name;
  profile.maxSharedMemoryBytes = 32 * kKiB;
  profile.maxWorkgroupInvocations = 1024;
  profile.maxWorkgroupSize = {1024, 1024, 64};
  profile.preferAddressBinding = true;
  profile.stageOperands = true;
  profile.subgroupSize = profile.minSubgroupSize = profile.maxSubgroupSize = subgroupSize;
  profile.preferredWorkgroupSize = 256;
  profile.registerTileElements = 64;
  DeviceFeatures &features = profile.features;
  features.shaderInt8 = features.shaderInt16 = features.shaderFloat16 = true;
  features.storageBuffer16BitAccess = true;
  features.subgroupShuffle = features.subgroupArithmetic = features.subgroupVote = true;
  features.integerDotProduct = true;
  return profile;
}

/// Sets the profile to a driver that chooses the subgroup size of each kernel, from minSize to
/// maxSize lanes. Kernels then use no subgroup operations, except those with cooperative matrices,
/// which require the subgroup size matrixSubgroupSize.
void letSubgroupsVary(DeviceProfile &profile, uint32_t minSize, uint32_t maxSize) {
  profile.minSubgroupSize = minSize;
  profile.maxSubgroupSize = maxSize;
  DeviceFeatures &features = profile.features;
  features.subgroupShuffle = features.subgroupArithmetic = features.subgroupVote = false;
}

/// The limits are those that NVIDIA's driver has reported since Turing [nvidia-limits]. Shared
/// memory is 48 KiB on every chip, because Vulkan has no way to request more. Cooperative matrices:
/// [nvidia-matrix].
DeviceProfile nvidia(const char *name) {
  DeviceProfile profile = gpu(name, 32);
  profile.maxSharedMemoryBytes = 48 * kKiB;
  profile.maxWorkgroupCount = {2147483647, 65535, 65535};
  profile.maxPushConstantBytes = 256;
  profile.maxAllocationBytes = 0xFFE00000;
  profile.maxStorageBufferRange = profile.maxAllocationBytes;
  profile.maxStorageBuffersPerStage = 1048576;
  profile.maxTexelBufferElements = uint64_t{1} << 27;
  profile.texelBufferAlignment = 16;
  profile.maxTexelBuffersPerStage = 1048576;
  profile.maxResourcesPerStage = kNoLimit;
  profile.features.shaderFloat64 = true;
  // Measured on an H200: of 64, 256 and 1024 invocations, 256 gave the fastest convolutional
  // networks at batch 1.
  profile.invocationsPerUnit = 256;
  using enum MatrixElement;
  profile.matrixShapes = {{16, 16, 16, kF16, kF32}, {16, 16, 16, kF16, kF16},
                          {16, 8, 16, kF16, kF32},  {16, 8, 16, kF16, kF16},
                          {16, 16, 32, kI8, kI32},  {16, 8, 32, kI8, kI32}};
  return profile;
}

/// TU102 as in the GeForce RTX 2080 Ti [turing]: 68 multiprocessors, 96 KiB each of L1 cache and
/// shared memory together, 5.5 MiB of L2 cache. Turing already has the int8 matrix shapes.
DeviceProfile nvidiaTuring() {
  DeviceProfile profile = nvidia("vulkan:nvidia-turing");
  profile.computeUnits = 68;
  profile.l1CacheBytes = 96 * kKiB;
  profile.lastCacheBytes = 5632 * kKiB;
  return profile;
}

/// GA102 as in the GeForce RTX 3090 [ampere]: 82 multiprocessors, 128 KiB each of L1 cache and
/// shared memory together, 6 MiB of L2 cache.
DeviceProfile nvidiaAmpere() {
  DeviceProfile profile = nvidia("vulkan:nvidia-ampere");
  profile.computeUnits = 82;
  profile.l1CacheBytes = 128 * kKiB;
  profile.lastCacheBytes = 6 * kMiB;
  return profile;
}

/// AD102 as in the GeForce RTX 4090 [ada]: 128 multiprocessors, 128 KiB each of L1 cache and
/// shared memory together, 72 MiB of L2 cache.
DeviceProfile nvidiaAda() {
  DeviceProfile profile = nvidia("vulkan:nvidia-ada");
  profile.computeUnits = 128;
  profile.l1CacheBytes = 128 * kKiB;
  profile.lastCacheBytes = 72 * kMiB;
  return profile;
}

/// GH100 as in the H100 SXM5 [hopper]: 132 multiprocessors, 256 KiB each of L1 cache and shared
/// memory together, 50 MiB of L2 cache.
DeviceProfile nvidiaHopper() {
  DeviceProfile profile = nvidia("vulkan:nvidia-hopper");
  profile.computeUnits = 132;
  profile.l1CacheBytes = 256 * kKiB;
  profile.lastCacheBytes = 50 * kMiB;
  return profile;
}

/// The limits are the smaller ones of Mesa's RADV and AMD's own driver [radv, amd-windows]. The
/// hardware has 64 KiB of shared memory per workgroup and RADV offers all of it; AMD's own driver
/// offers 32 KiB.
DeviceProfile amd(const char *name) {
  DeviceProfile profile = gpu(name, 64);
  profile.maxWorkgroupSize = {1024, 1024, 1024};
  profile.maxAllocationBytes = 2048 * kMiB;
  profile.maxStorageBufferRange = profile.maxAllocationBytes;
  profile.maxStorageBuffersPerStage = 1 << 20;
  profile.maxTexelBufferElements = uint64_t{1} << 27;
  profile.texelBufferAlignment = 16;
  profile.maxTexelBuffersPerStage = 1 << 20;
  profile.maxResourcesPerStage = 1 << 20;
  profile.features.shaderFloat64 = true;
  return profile;
}

/// Navi 21 as in the Radeon RX 6900 XT [rdna2]: 80 compute units, 16 KiB of vector cache each, 4
/// MiB of L2 cache, and 128 MiB of Infinity Cache as the last level. Subgroups have 32 or 64 lanes.
DeviceProfile amdRdna2() {
  DeviceProfile profile = amd("vulkan:amd-rdna2");
  letSubgroupsVary(profile, 32, 64);
  profile.computeUnits = 80;
  profile.l1CacheBytes = 16 * kKiB;
  profile.lastCacheBytes = 128 * kMiB;
  return profile;
}

/// Navi 31 as in the Radeon RX 7900 XTX [rdna3]: 96 compute units, 32 KiB of vector cache each, 6
/// MiB of L2 cache, and 96 MiB of Infinity Cache as the last level. The cooperative matrices are
/// those that RADV and AMD's driver report [rdna3-matrix].
DeviceProfile amdRdna3() {
  DeviceProfile profile = amd("vulkan:amd-rdna3");
  letSubgroupsVary(profile, 32, 64);
  profile.computeUnits = 96;
  profile.l1CacheBytes = 32 * kKiB;
  profile.lastCacheBytes = 96 * kMiB;
  using enum MatrixElement;
  profile.matrixShapes = {
      {16, 16, 16, kF16, kF32}, {16, 16, 16, kF16, kF16}, {16, 16, 16, kI8, kI32}};
  return profile;
}

/// Instinct MI300X [cdna3]: 304 compute units, 32 KiB of vector cache and 64 KiB of shared memory
/// each, 256 MiB of Infinity Cache. Subgroups always have 64 lanes. Its only Vulkan driver is RADV,
/// which offers the hardware's shared memory but not its matrix instructions.
DeviceProfile amdCdna3() {
  DeviceProfile profile = amd("vulkan:amd-cdna3");
  profile.maxSharedMemoryBytes = 64 * kKiB;
  profile.computeUnits = 304;
  profile.l1CacheBytes = 32 * kKiB;
  profile.lastCacheBytes = 256 * kMiB;
  return profile;
}

/// The limits are the smaller ones of Mesa's ANV and Intel's own driver [anv, intel-windows]: ANV
/// offers 64 KiB of shared memory, Intel's driver 32 KiB; one storage-buffer binding has at most 1
/// GiB. Subgroups have 8, 16 or 32 lanes.
DeviceProfile intel(const char *name) {
  DeviceProfile profile = gpu(name, 32);
  letSubgroupsVary(profile, 8, 32);
  profile.maxStorageBufferRange = 1024 * kMiB;
  profile.maxAllocationBytes = 2048 * kMiB;
  profile.maxStorageBuffersPerStage = 64;
  profile.maxTexelBufferElements = uint64_t{1} << 27;
  profile.texelBufferAlignment = 16;
  profile.maxTexelBuffersPerStage = 128;
  profile.maxResourcesPerStage = 256;
  return profile;
}

/// Iris Xe with 96 execution units [xe-lp]: six subslices of 16 units, 64 KiB of L1 cache each,
/// 3840 KiB of L3 cache.
DeviceProfile intelXeLp() {
  DeviceProfile profile = intel("vulkan:intel-xe-lp");
  profile.computeUnits = 6;
  profile.l1CacheBytes = 64 * kKiB;
  profile.lastCacheBytes = 3840 * kKiB;
  return profile;
}

/// Arc A770 [xe-hpg]: 32 Xe-cores, 192 KiB each of L1 cache and shared memory together, 16 MiB of
/// L2 cache. The cooperative matrices are those that ANV reports for subgroups of eight lanes
/// [anv-matrix].
DeviceProfile intelArc() {
  DeviceProfile profile = intel("vulkan:intel-arc");
  profile.computeUnits = 32;
  profile.l1CacheBytes = 192 * kKiB;
  profile.lastCacheBytes = 16 * kMiB;
  using enum MatrixElement;
  profile.matrixShapes = {{8, 8, 16, kF16, kF32}, {8, 8, 32, kI8, kI32}};
  profile.matrixSubgroupSize = 8;
  return profile;
}

/// Adreno 740 [turnip]: six shader processors. The limits are the smaller ones of Qualcomm's driver
/// and Mesa's Turnip. A storage-buffer binding has at most 128 MiB, which Turnip's source
/// calls a limit of the hardware. Qualcomm does not publish cache sizes.
DeviceProfile adreno7xx() {
  DeviceProfile profile = gpu("vulkan:adreno-7xx", 64);
  letSubgroupsVary(profile, 64, 128);
  profile.maxStorageBuffersPerStage = 24;
  profile.texelBufferAlignment = 64;
  profile.features.shaderInt64 = true;
  profile.preferredWorkgroupSize = 128;
  profile.registerTileElements = 32;
  profile.computeUnits = 6;
  return profile;
}

/// Mali from the Valhall generations on, as in the G710 with ten cores [mali]: 16 KiB of load/store
/// cache per core, up to 2 MiB of L2 cache. The limits are those of Arm's driver [mali-limits].
/// Workgroups of 512 invocations need kernels with few registers; 64 invocations fit with any
/// kernel. Subgroups have 16 lanes.
DeviceProfile maliG7xx() {
  DeviceProfile profile = gpu("vulkan:mali-g7xx", 16);
  profile.maxWorkgroupInvocations = 512;
  profile.maxWorkgroupSize = {512, 512, 512};
  profile.maxStorageBuffersPerStage = 35;
  profile.texelBufferAlignment = 64;
  profile.preferredWorkgroupSize = 64;
  profile.registerTileElements = 32;
  profile.computeUnits = 10;
  profile.l1CacheBytes = 16 * kKiB;
  profile.lastCacheBytes = 2 * kMiB;
  return profile;
}

} // namespace

const std::vector<NamedProfile> &namedProfiles() {
  static const std::vector<NamedProfile> kProfiles = {
      {generic(), {}},
      {lavapipe(), {"llvmpipe"}},
      {staging(), {}},
      {dotProducts(), {}},
      {subgroups(), {}},
      {nvidiaHopper(), {"H100", "H200", "H800"}},
      {nvidiaAda(), {"RTX 40", "Ada Generation", "NVIDIA L4"}},
      {nvidiaAmpere(), {"RTX 30", "RTX A", "NVIDIA A10", "NVIDIA A40"}},
      {nvidiaTuring(), {"RTX 20", "TITAN RTX", "Quadro RTX", "Tesla T4"}},
      {amdCdna3(), {"MI300"}},
      {amdRdna3(), {"RX 7"}},
      {amdRdna2(), {"RX 6"}},
      {intelArc(), {"Arc(TM) A"}},
      {intelXeLp(), {"Iris(R) Xe"}},
      {adreno7xx(), {"Adreno (TM) 7"}},
      {maliG7xx(), {"Mali-G710", "Mali-G715", "Mali-G720", "Immortalis-G7"}},
  };
  return kProfiles;
}

} // namespace gantry

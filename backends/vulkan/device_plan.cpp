// Makes the plan of a device (how it is opened) from its snapshot, and chooses a device.
#include "backends/vulkan/device_plan.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gantry::vulkan {

namespace {

/// The granularity of sparse bindings in known drivers, in bytes. VulkanDevice::openSparse() raises
/// the device's granularity if the driver needs a larger one.
constexpr uint64_t kSparseGranularity = 65536;

device::DeviceKind kindOf(VkPhysicalDeviceType type) {
  switch (type) {
  case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    return device::DeviceKind::kDiscrete;
  case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
    return device::DeviceKind::kIntegrated;
  case VK_PHYSICAL_DEVICE_TYPE_CPU:
    return device::DeviceKind::kSoftware;
  default:
    return device::DeviceKind::kVirtual;
  }
}

std::string versionText(uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
         std::to_string(VK_API_VERSION_MINOR(version)) + "." +
         std::to_string(VK_API_VERSION_PATCH(version));
}

void addMissing(std::string &missing, const std::string &what) {
  missing += missing.empty() ? what : ", " + what;
}

/// Chooses a compute queue family: the first one with timestamps, otherwise the first one. On GPUs
/// the first family usually supports graphics too and has the highest throughput.
std::optional<uint32_t> chooseQueueFamily(const std::vector<VkQueueFamilyProperties> &families) {
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < families.size(); ++i) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0)
      continue;
    if (families[i].timestampValidBits > 0)
      return i;
    if (!found)
      found = i;
  }
  return found;
}

/// Returns whether the host can map the largest device-local heap, with coherent memory.
/// *largestHeap receives the size of this heap in bytes.
bool hasUnifiedMemory(const VkPhysicalDeviceMemoryProperties &memory, uint64_t *largestHeap) {
  constexpr VkMemoryPropertyFlags kUnified = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                             VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t heap = VK_MAX_MEMORY_HEAPS;
  *largestHeap = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
        memory.memoryHeaps[i].size > *largestHeap) {
      *largestHeap = memory.memoryHeaps[i].size;
      heap = i;
    }
  // Smaller heaps do not count, such as the 256 MiB window of a discrete GPU (its BAR): it is too
  // small for inputs and outputs, and the host reads it slowly.
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((memory.memoryTypes[i].propertyFlags & kUnified) == kUnified &&
        memory.memoryTypes[i].heapIndex == heap)
      return true;
  return false;
}

/// Returns whether kernels may request a subgroup size with full subgroups.
bool canRequestSubgroupSize(const DeviceSnapshot &snapshot) {
  return snapshot.subgroupSizeControl && snapshot.computeFullSubgroups &&
         (snapshot.subgroups.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
}

std::optional<MatrixElement> elementOf(VkComponentTypeKHR type) {
  switch (type) {
  case VK_COMPONENT_TYPE_FLOAT16_KHR:
    return MatrixElement::kF16;
  case VK_COMPONENT_TYPE_FLOAT32_KHR:
    return MatrixElement::kF32;
  case VK_COMPONENT_TYPE_SINT8_KHR:
    return MatrixElement::kI8;
  case VK_COMPONENT_TYPE_SINT32_KHR:
    return MatrixElement::kI32;
  default:
    return std::nullopt;
  }
}

/// Returns the matrix shapes that kernels may multiply cooperatively in a subgroup of a requested
/// size.
std::vector<MatrixShape> matricesOf(const DeviceSnapshot &snapshot) {
  std::vector<MatrixShape> shapes;
  if (!snapshot.cooperativeMatrix || !snapshot.features12.vulkanMemoryModel ||
      !(snapshot.matrixStages & VK_SHADER_STAGE_COMPUTE_BIT) || !canRequestSubgroupSize(snapshot))
    return shapes;
  for (const VkCooperativeMatrixPropertiesKHR &listed : snapshot.matrices) {
    const std::optional<MatrixElement> operand = elementOf(listed.AType);
    const std::optional<MatrixElement> result = elementOf(listed.ResultType);
    if (operand && result && listed.scope == VK_SCOPE_SUBGROUP_KHR &&
        listed.AType == listed.BType && listed.CType == listed.ResultType &&
        !listed.saturatingAccumulation)
      shapes.push_back({listed.MSize, listed.NSize, listed.KSize, *operand, *result});
  }
  return shapes;
}

DeviceProfile profileOf(const DeviceSnapshot &snapshot, bool software) {
  const VkPhysicalDeviceLimits &limits = snapshot.properties.limits;
  DeviceProfile profile;
  profile.name = snapshot.properties.deviceName;
  profile.backend = "vulkan";
  profile.maxSharedMemoryBytes = limits.maxComputeSharedMemorySize;
  profile.maxWorkgroupInvocations = limits.maxComputeWorkGroupInvocations;
  for (int i = 0; i < 3; ++i) {
    profile.maxWorkgroupSize[i] = limits.maxComputeWorkGroupSize[i];
    profile.maxWorkgroupCount[i] = limits.maxComputeWorkGroupCount[i];
  }
  profile.maxPushConstantBytes = limits.maxPushConstantsSize;
  profile.maxStorageBufferRange = limits.maxStorageBufferRange;
  profile.maxAllocationBytes = snapshot.properties11.maxMemoryAllocationSize;
  if (snapshot.maxBufferSize != 0)
    profile.maxAllocationBytes = std::min(profile.maxAllocationBytes, snapshot.maxBufferSize);
  profile.maxStorageBuffersPerStage =
      std::min({limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers,
                limits.maxPerStageResources});
  profile.storageBufferAlignment = std::max<uint64_t>(4, limits.minStorageBufferOffsetAlignment);
  if (snapshot.texelFormats) {
    profile.maxTexelBufferElements = limits.maxTexelBufferElements;
    // The alignment is at least one texel, so that the last texel of a view does not overlap the
    // next value.
    profile.texelBufferAlignment = std::max<uint64_t>(16, limits.minTexelBufferOffsetAlignment);
    profile.maxTexelBuffersPerStage = // Texel buffers count as sampled images.
        std::min(limits.maxPerStageDescriptorSampledImages, limits.maxDescriptorSetSampledImages);
    profile.maxResourcesPerStage = limits.maxPerStageResources;
    // llvmpipe loads from storage buffers lane by lane, but fetches texels in vectors.
    profile.preferTexelLoads = snapshot.driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    // Mesa 22's shader compiler for CPUs silently ends loops after 65,535 iterations, counted over
    // all loops of a kernel (measured: a sum of 65,537 ones gives 65,535).
    profile.maxLoopRounds = profile.preferTexelLoads ? 65535 : 0;
  }
  const VkPhysicalDeviceVulkan11Properties &subgroups = snapshot.properties11;
  profile.subgroupSize = std::max(1u, subgroups.subgroupSize);
  profile.minSubgroupSize = profile.maxSubgroupSize = profile.subgroupSize;
  if (canRequestSubgroupSize(snapshot)) {
    profile.minSubgroupSize = snapshot.subgroups.minSubgroupSize;
    profile.maxSubgroupSize = snapshot.subgroups.maxSubgroupSize;
  }

  DeviceFeatures &features = profile.features;
  features.shaderInt64 = snapshot.features.shaderInt64;
  features.shaderInt8 = snapshot.features12.shaderInt8;
  features.shaderInt16 = snapshot.features.shaderInt16;
  features.shaderFloat16 = snapshot.features12.shaderFloat16;
  features.shaderFloat64 = snapshot.features.shaderFloat64;
  features.storageBuffer8BitAccess = snapshot.features12.storageBuffer8BitAccess;
  features.storageBuffer16BitAccess = snapshot.features11.storageBuffer16BitAccess;
  features.bufferDeviceAddress = snapshot.features12.bufferDeviceAddress;
  // Kernels with subgroup operations are compiled for one subgroup size. They are only valid if the
  // driver always uses this size.
  const bool oneSize = snapshot.subgroups.minSubgroupSize == profile.subgroupSize &&
                       snapshot.subgroups.maxSubgroupSize == profile.subgroupSize;
  auto inKernels = [&](VkSubgroupFeatureFlagBits operations) {
    return oneSize && (subgroups.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
           (subgroups.subgroupSupportedOperations & operations);
  };
  features.subgroupShuffle = inKernels(VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
  features.subgroupArithmetic = inKernels(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
  features.subgroupVote = inKernels(VK_SUBGROUP_FEATURE_VOTE_BIT);
  // On a GPU, dot products must be accelerated, because otherwise kernels without them may be
  // faster. A software device only needs to support them: kernels that are compiled for its own
  // profile (lavapipe() in engine/base/named_profiles.cpp) never use them, and kernels that are
  // compiled for another profile, which may use them, must run too.
  features.integerDotProduct =
      snapshot.integerDotProduct && (snapshot.integerDotProductAccelerated || software);
  profile.matrixShapes = matricesOf(snapshot);

  // Software devices check accesses through addresses lane by lane, which is slow. GPUs do not
  // check them.
  profile.preferAddressBinding = features.bufferDeviceAddress && !software;
  profile.preferredWorkgroupSize = std::min(software ? 64u : 256u, profile.maxWorkgroupInvocations);
  profile.registerTileElements = 64;
  return profile;
}

/// Sets the memory heaps, types and kinds of `info`.
void readMemory(const VkPhysicalDeviceMemoryProperties &memory, device::DeviceInfo &info) {
  constexpr VkMemoryPropertyFlags kKnown =
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
      VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    info.memoryHeaps.push_back(
        {memory.memoryHeaps[i].size,
         (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0});
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    info.memoryTypes.push_back(
        {memory.memoryTypes[i].heapIndex, (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0,
         (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0,
         (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0,
         (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0, (flags & ~kKnown) == 0});
  }
  info.memoryKinds = device::chooseMemoryTypes(info.memoryHeaps, info.memoryTypes);
}

/// Chooses the queue family that binds sparse memory: the compute family if it can do that,
/// otherwise the first one that can.
std::optional<uint32_t> chooseSparseFamily(const std::vector<VkQueueFamilyProperties> &families,
                                           uint32_t computeFamily) {
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < families.size(); ++i)
    if ((families[i].queueFlags & VK_QUEUE_SPARSE_BINDING_BIT) && families[i].queueCount > 0 &&
        (i == computeFamily || !found))
      found = i;
  return found;
}

/// Returns the special values that the device can keep, for each width of floating-point numbers
/// (float_controls.h). Denormals count only for a width whose treatment of denormals the device can
/// set independently of the other widths: otherwise another width of a kernel would need the same
/// mode.
FloatControls floatControlsOf(const VkPhysicalDeviceFloatControlsProperties &floats) {
  const VkShaderFloatControlsIndependence independence = floats.denormBehaviorIndependence;
  const bool all = independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  const bool only32 = independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY;
  FloatControls controls;
  controls.f16 = {floats.shaderSignedZeroInfNanPreserveFloat16 != 0,
                  all && floats.shaderDenormPreserveFloat16};
  controls.f32 = {floats.shaderSignedZeroInfNanPreserveFloat32 != 0,
                  (all || only32) && floats.shaderDenormPreserveFloat32};
  controls.f64 = {floats.shaderSignedZeroInfNanPreserveFloat64 != 0,
                  all && floats.shaderDenormPreserveFloat64};
  return controls;
}

/// Decides which optional features the device is opened with, and which extensions they need.
void planExtensions(const DeviceSnapshot &snapshot, DevicePlan &plan) {
  device::DeviceInfo &info = plan.info;
  // Enables the extension if the device has it. Returns false otherwise, which is no failure if the
  // device's Vulkan version contains the extension's functions.
  auto enable = [&](const char *name) {
    if (std::find(snapshot.extensions.begin(), snapshot.extensions.end(), name) ==
        snapshot.extensions.end())
      return false;
    plan.extensions.push_back(name);
    return true;
  };
  enable("VK_KHR_portability_subset"); // Must be enabled if it exists.
  if (plan.info.profile.features.integerDotProduct)
    enable(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME); // Vulkan 1.3 needs no extension.
  plan.subgroupSizes = canRequestSubgroupSize(snapshot);
  if (plan.subgroupSizes)
    enable(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME); // Vulkan 1.3 needs no extension.
  if (!info.profile.matrixShapes.empty())
    enable(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  info.memoryBudgets = enable(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  const auto domain = [&](VkTimeDomainEXT wanted) {
    return std::find(snapshot.timeDomains.begin(), snapshot.timeDomains.end(), wanted) !=
           snapshot.timeDomains.end();
  };
  info.calibratedClocks = info.timestamps && domain(VK_TIME_DOMAIN_DEVICE_EXT) &&
                          domain(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT) &&
                          enable(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  info.memoryPriorities = snapshot.memoryPriority && enable(VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME);
  constexpr VkExternalMemoryFeatureFlags kBothWays =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  info.external.opaqueFds = (snapshot.opaqueFd & kBothWays) == kBothWays &&
                            enable(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  if ((snapshot.hostPointer & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) &&
      snapshot.hostPointerAlignment > 0 && enable(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
    info.external.hostPointerAlignmentBytes = snapshot.hostPointerAlignment;

  // Kernels may use a range of virtual memory while parts of it have no memory. This needs sparse
  // residency in addition to sparse binding.
  const std::optional<uint32_t> family =
      chooseSparseFamily(snapshot.queueFamilies, plan.queueFamily);
  if (family && snapshot.features.sparseBinding && snapshot.features.sparseResidencyBuffer) {
    plan.sparseQueueFamily = *family;
    uint64_t largest = snapshot.properties.limits.sparseAddressSpaceSize;
    if (snapshot.maxBufferSize != 0)
      largest = std::min(largest, snapshot.maxBufferSize);
    info.virtualMemory = {true, kSparseGranularity, largest};
  }
}

std::string lower(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string deviceListText(const std::vector<DevicePlan> &plans) {
  std::string list;
  for (size_t i = 0; i < plans.size(); ++i)
    list += (i ? ", " : "") + std::to_string(i) + ": " + plans[i].info.name;
  return list;
}

Status unusable(const DevicePlan &plan) {
  return statusf(StatusCode::kUnsupported, "device '%s' cannot be used: it lacks %s",
                 plan.info.name.c_str(), plan.info.missing.c_str());
}

} // namespace

DevicePlan planDevice(const DeviceSnapshot &snapshot) {
  DevicePlan plan;
  device::DeviceInfo &info = plan.info;
  info.name = snapshot.properties.deviceName;
  info.driver = std::string(snapshot.driver.driverName) + " " + snapshot.driver.driverInfo;
  info.backend = "vulkan";
  info.apiVersion = versionText(snapshot.properties.apiVersion);
  info.kind = kindOf(snapshot.properties.deviceType);
  info.unifiedMemory = hasUnifiedMemory(snapshot.memory, &info.memoryBytes);
  info.profile = profileOf(snapshot, info.kind == device::DeviceKind::kSoftware);

  readMemory(snapshot.memory, info);

  if (snapshot.properties.apiVersion < VK_API_VERSION_1_2) {
    addMissing(info.missing, "Vulkan 1.2 (it has " + info.apiVersion + ")");
  } else {
    if (!snapshot.features12.timelineSemaphore)
      addMissing(info.missing, "timelineSemaphore");
    if (!snapshot.features12.scalarBlockLayout)
      addMissing(info.missing, "scalarBlockLayout");
  }
  if (std::optional<uint32_t> family = chooseQueueFamily(snapshot.queueFamilies)) {
    plan.queueFamily = *family;
    plan.timestampBits = snapshot.queueFamilies[*family].timestampValidBits;
    plan.timestampPeriodNs = snapshot.properties.limits.timestampPeriod;
    info.timestamps = plan.timestampBits > 0 && plan.timestampPeriodNs > 0;
  } else {
    addMissing(info.missing, "a compute queue");
  }
  plan.floats = floatControlsOf(snapshot.floats);
  planExtensions(snapshot, plan);
  return plan;
}

std::vector<size_t> preferredOrder(const std::vector<DeviceSnapshot> &snapshots) {
  std::vector<size_t> order(snapshots.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return kindOf(snapshots[a].properties.deviceType) < kindOf(snapshots[b].properties.deviceType);
  });
  return order;
}

Result<size_t> chooseDevice(const std::vector<DevicePlan> &plans, const std::string &selector,
                            const std::string &environment) {
  if (plans.empty())
    return noDevices("no physical device");
  const bool fromEnvironment = selector.empty() && !environment.empty();
  const std::string &wanted = fromEnvironment ? environment : selector;
  const char *origin = fromEnvironment ? " (from GANTRY_DEVICE)" : "";
  if (wanted.empty()) {
    for (size_t i = 0; i < plans.size(); ++i)
      if (plans[i].info.missing.empty())
        return i;
    return unusable(plans[0]);
  }

  std::optional<size_t> found;
  const char *end = wanted.data() + wanted.size();
  uint32_t index = 0;
  auto [stop, error] = std::from_chars(wanted.data(), end, index);
  if (stop == end) { // A number is always an index and never a part of a name.
    if (error == std::errc() && index < plans.size())
      found = index;
  } else {
    for (size_t i = 0; i < plans.size() && !found; ++i)
      if (lower(plans[i].info.name).find(lower(wanted)) != std::string::npos)
        found = i;
  }
  if (!found)
    return statusf(StatusCode::kNotFound, "no device '%s'%s; there are: %s", wanted.c_str(), origin,
                   deviceListText(plans).c_str());
  if (!plans[*found].info.missing.empty())
    return unusable(plans[*found]);
  return *found;
}

Status noDevices(const std::string &detail) {
  return statusf(StatusCode::kNotFound,
                 "no Vulkan device (%s); install a GPU driver, or the package mesa-vulkan-drivers "
                 "for the software device",
                 detail.c_str());
}

} // namespace gantry::vulkan

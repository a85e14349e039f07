// Tests planDevice, preferredOrder, chooseDevice and parseValidation on snapshots of devices
// (DeviceSnapshot in device_plan.h: everything that is read from a device). The snapshots are
// written by hand, so the test machine needs none of the devices.
#include "backends/vulkan/device_plan.h"
#include "backends/vulkan/instance.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gantry::vulkan {
namespace {

using device::MemoryKind;

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kMapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

/// Returns a device that has everything which Gantry requires, and no memory yet.
DeviceSnapshot usable(const char *name, VkPhysicalDeviceType type) {
  DeviceSnapshot s;
  std::strcpy(s.properties.deviceName, name);
  s.properties.deviceType = type;
  s.properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 3, 230);
  s.properties.limits.maxComputeWorkGroupInvocations = 1024;
  s.properties.limits.maxPerStageDescriptorStorageBuffers = 32;
  s.properties.limits.maxDescriptorSetStorageBuffers = 256;
  s.properties.limits.maxPerStageResources = 128;
  s.properties.limits.minStorageBufferOffsetAlignment = 64;
  s.properties.limits.maxTexelBufferElements = 1 << 27;
  s.properties.limits.minTexelBufferOffsetAlignment = 16;
  s.properties.limits.maxPerStageDescriptorSampledImages = 100;
  s.properties.limits.maxDescriptorSetSampledImages = 200;
  s.texelFormats = true;
  s.properties.limits.timestampPeriod = 2.0f;
  s.properties11.maxMemoryAllocationSize = uint64_t{4} << 30;
  s.properties11.subgroupSize = 32;
  s.features12.timelineSemaphore = VK_TRUE;
  s.features12.scalarBlockLayout = VK_TRUE;
  s.features12.bufferDeviceAddress = VK_TRUE;
  VkQueueFamilyProperties graphics{};
  graphics.queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  graphics.queueCount = 1;
  graphics.timestampValidBits = 36;
  s.queueFamilies = {graphics};
  return s;
}

void addHeap(DeviceSnapshot &s, uint64_t gib, bool local) {
  s.memory.memoryHeaps[s.memory.memoryHeapCount++] = {
      gib << 30, local ? VkMemoryHeapFlags(VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) : 0};
}

void addType(DeviceSnapshot &s, VkMemoryPropertyFlags flags, uint32_t heap) {
  s.memory.memoryTypes[s.memory.memoryTypeCount++] = {flags, heap};
}

/// Returns a discrete GPU whose host-visible device memory is a window of 256 MiB.
DeviceSnapshot discrete() {
  DeviceSnapshot s = usable("GeForce Something", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
  addHeap(s, 24, true);
  addHeap(s, 64, false);
  s.memory.memoryHeaps[s.memory.memoryHeapCount++] = {256 << 20, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  addType(s, 0, 1);
  addType(s, kLocal, 0);
  addType(s, kMapped, 1);
  addType(s, kMapped | kCached, 1);
  addType(s, kLocal | kMapped, 2);
  return s;
}

DeviceSnapshot software() {
  DeviceSnapshot s = usable("llvmpipe (LLVM 15.0.6, 256 bits)", VK_PHYSICAL_DEVICE_TYPE_CPU);
  s.driver.driverID = VK_DRIVER_ID_MESA_LLVMPIPE;
  addHeap(s, 16, true);
  addType(s, kLocal | kMapped | kCached, 0);
  return s;
}

std::vector<DevicePlan> plansOf(const std::vector<DeviceSnapshot> &snapshots) {
  std::vector<DevicePlan> plans;
  for (size_t i : preferredOrder(snapshots))
    plans.push_back(planDevice(snapshots[i]));
  return plans;
}

TEST(DevicePlan, ReadsADiscreteDevice) {
  const DevicePlan plan = planDevice(discrete());
  EXPECT_EQ(plan.info.missing, "");
  EXPECT_EQ(plan.info.kind, device::DeviceKind::kDiscrete);
  EXPECT_EQ(plan.info.apiVersion, "1.3.230");
  EXPECT_EQ(plan.info.memoryBytes, uint64_t{24} << 30);
  EXPECT_FALSE(plan.info.unifiedMemory) << "a window of 256 MiB is not unified memory";
  EXPECT_TRUE(plan.info.timestamps);
  EXPECT_EQ(plan.timestampBits, 36u);
  EXPECT_TRUE(plan.info.profile.preferAddressBinding);
  EXPECT_EQ(plan.info.profile.subgroupSize, 32u);
  EXPECT_EQ(plan.info.profile.storageBufferAlignment, 64u);
}

TEST(DevicePlan, SoftwareDevicesPreferStorageBuffers) {
  const DevicePlan plan = planDevice(software());
  EXPECT_TRUE(plan.info.unifiedMemory);
  EXPECT_TRUE(plan.info.profile.features.bufferDeviceAddress);
  EXPECT_FALSE(plan.info.profile.preferAddressBinding);
}

TEST(DevicePlan, OnlyLavapipePrefersTexelBuffers) {
  const DeviceProfile lavapipe = planDevice(software()).info.profile;
  EXPECT_TRUE(lavapipe.preferTexelLoads);
  EXPECT_EQ(lavapipe.maxTexelBufferElements, 1u << 27);
  EXPECT_EQ(lavapipe.texelBufferAlignment, 16u);
  EXPECT_EQ(lavapipe.maxTexelBuffersPerStage, 100u);
  EXPECT_EQ(lavapipe.maxResourcesPerStage, 128u);
  DeviceSnapshot s = software();
  s.properties.limits.minTexelBufferOffsetAlignment = 4;
  EXPECT_EQ(planDevice(s).info.profile.texelBufferAlignment, 16u) << "the size of a texel";
  s.driver.driverID = VK_DRIVER_ID_GOOGLE_SWIFTSHADER;
  EXPECT_FALSE(planDevice(s).info.profile.preferTexelLoads);
  EXPECT_FALSE(planDevice(discrete()).info.profile.preferTexelLoads);
  EXPECT_GT(planDevice(discrete()).info.profile.maxTexelBufferElements, 0u)
      << "a texel-buffer binding may be requested";
}

TEST(DevicePlan, ReadsSubgroupOperations) {
  DeviceSnapshot s = discrete();
  s.properties11.subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  s.properties11.subgroupSupportedOperations =
      VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT;
  s.subgroups.minSubgroupSize = s.subgroups.maxSubgroupSize = 32;
  DeviceProfile profile = planDevice(s).info.profile;
  EXPECT_TRUE(profile.features.subgroupShuffle && profile.features.subgroupVote);
  EXPECT_FALSE(profile.features.subgroupArithmetic);
  s.properties11.subgroupSupportedStages = VK_SHADER_STAGE_FRAGMENT_BIT;
  EXPECT_FALSE(planDevice(s).info.profile.features.subgroupVote)
      << "not supported in compute shaders";
}

TEST(DevicePlan, UsesNoSubgroupOperationsIfTheSizeVaries) {
  DeviceSnapshot s = discrete();
  s.properties11.subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  s.properties11.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_VOTE_BIT;
  s.subgroups.minSubgroupSize = 8;
  s.subgroups.maxSubgroupSize = 32;
  DeviceProfile profile = planDevice(s).info.profile;
  EXPECT_FALSE(profile.features.subgroupVote);
  EXPECT_EQ(profile.minSubgroupSize, 32u) << "kernels cannot request a size";
  s.subgroups.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
  EXPECT_FALSE(planDevice(s).subgroupSizes);
  s.subgroupSizeControl = s.computeFullSubgroups = VK_TRUE;
  s.extensions = {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME};
  const DevicePlan plan = planDevice(s);
  EXPECT_TRUE(plan.subgroupSizes);
  EXPECT_EQ(plan.info.profile.minSubgroupSize, 8u);
  EXPECT_EQ(plan.info.profile.maxSubgroupSize, 32u);
  ASSERT_EQ(plan.extensions.size(), 1u);
  EXPECT_STREQ(plan.extensions[0], VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
}

/// Returns a device with cooperative matrices. Its list also has shapes that kernels cannot use.
DeviceSnapshot withMatrices() {
  DeviceSnapshot s = discrete();
  s.extensions = {VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME};
  s.subgroups.minSubgroupSize = s.subgroups.maxSubgroupSize = 32;
  s.subgroups.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
  s.subgroupSizeControl = s.computeFullSubgroups = VK_TRUE;
  s.features12.vulkanMemoryModel = VK_TRUE;
  s.cooperativeMatrix = VK_TRUE;
  s.matrixStages = VK_SHADER_STAGE_COMPUTE_BIT;
  constexpr auto kF16 = VK_COMPONENT_TYPE_FLOAT16_KHR, kF32 = VK_COMPONENT_TYPE_FLOAT32_KHR;
  constexpr auto kI8 = VK_COMPONENT_TYPE_SINT8_KHR, kI32 = VK_COMPONENT_TYPE_SINT32_KHR;
  constexpr auto kU8 = static_cast<VkComponentTypeKHR>(7);
  constexpr auto kDevice = static_cast<VkScopeKHR>(1), kSubgroup = VK_SCOPE_SUBGROUP_KHR;
  const auto type = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  s.matrices = {{type, nullptr, 16, 16, 16, kF16, kF16, kF32, kF32, VK_FALSE, kSubgroup},
                {type, nullptr, 16, 8, 16, kF16, kF16, kF16, kF32, VK_FALSE, kSubgroup},
                {type, nullptr, 64, 64, 16, kF16, kF16, kF32, kF32, VK_FALSE, kDevice},
                {type, nullptr, 16, 16, 32, kU8, kU8, kI32, kI32, VK_FALSE, kSubgroup},
                {type, nullptr, 16, 16, 32, kI8, kI8, kI32, kI32, VK_TRUE, kSubgroup},
                {type, nullptr, 16, 16, 32, kI8, kI8, kI32, kI32, VK_FALSE, kSubgroup}};
  return s;
}

TEST(DevicePlan, ListsTheMatrixShapesThatKernelsUse) {
  const DevicePlan plan = planDevice(withMatrices());
  using enum MatrixElement;
  EXPECT_EQ(plan.info.profile.matrixShapes,
            (std::vector<MatrixShape>{{16, 16, 16, kF16, kF32}, {16, 16, 32, kI8, kI32}}));
  ASSERT_EQ(plan.extensions.size(), 1u);
  EXPECT_STREQ(plan.extensions[0], VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
}

TEST(DevicePlan, UsesNoMatricesWithoutTheFeaturesThatTheirKernelsNeed) {
  const std::pair<const char *, void (*)(DeviceSnapshot &)> lacks[] = {
      {"the feature", [](DeviceSnapshot &s) { s.cooperativeMatrix = VK_FALSE; }},
      {"the memory model", [](DeviceSnapshot &s) { s.features12.vulkanMemoryModel = VK_FALSE; }},
      {"compute shaders", [](DeviceSnapshot &s) { s.matrixStages = VK_SHADER_STAGE_FRAGMENT_BIT; }},
      {"full subgroups", [](DeviceSnapshot &s) { s.computeFullSubgroups = VK_FALSE; }},
      {"subgroup sizes", [](DeviceSnapshot &s) { s.subgroups.requiredSubgroupSizeStages = 0; }}};
  for (const auto &[what, lack] : lacks) {
    DeviceSnapshot s = withMatrices();
    lack(s);
    const DevicePlan plan = planDevice(s);
    EXPECT_TRUE(plan.info.profile.matrixShapes.empty()) << what;
    EXPECT_TRUE(plan.extensions.empty()) << what;
  }
}

TEST(DevicePlan, UsesIntegerDotProductsIfTheyAreAccelerated) {
  DeviceSnapshot s = discrete();
  s.extensions = {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME};
  s.integerDotProduct = VK_TRUE;
  EXPECT_FALSE(planDevice(s).info.profile.features.integerDotProduct);
  EXPECT_TRUE(planDevice(s).extensions.empty());
  s.integerDotProductAccelerated = VK_TRUE;
  EXPECT_TRUE(planDevice(s).info.profile.features.integerDotProduct);
  ASSERT_EQ(planDevice(s).extensions.size(), 1u);
  EXPECT_STREQ(planDevice(s).extensions[0], VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
}

TEST(DevicePlan, ASoftwareDeviceNeedsNoAcceleratedDotProducts) {
  DeviceSnapshot s = software();
  s.integerDotProduct = VK_TRUE;
  EXPECT_TRUE(planDevice(s).info.profile.features.integerDotProduct);
  s.integerDotProduct = VK_FALSE;
  EXPECT_FALSE(planDevice(s).info.profile.features.integerDotProduct);
}

TEST(DevicePlan, UsesNoTexelBuffersWithoutTheirFormats) {
  DeviceSnapshot s = software();
  s.texelFormats = false;
  const device::DeviceInfo info = planDevice(s).info;
  EXPECT_FALSE(info.profile.preferTexelLoads);
  EXPECT_EQ(info.profile.maxTexelBufferElements, 0u);
  EXPECT_EQ(info.bindingAlignment(), 64u) << "the alignment of storage buffers only";
}

TEST(DevicePlan, BuffersAreAlignedForEveryBinding) {
  DeviceSnapshot s = discrete();
  s.properties.limits.minTexelBufferOffsetAlignment = 256;
  EXPECT_EQ(planDevice(s).info.bindingAlignment(), 256u);
}

TEST(DevicePlan, DoesNotPreferAddressBindingWithoutAddresses) {
  DeviceSnapshot s = discrete();
  s.features12.bufferDeviceAddress = VK_FALSE;
  EXPECT_FALSE(planDevice(s).info.profile.preferAddressBinding);
  EXPECT_EQ(planDevice(s).info.missing, "") << "addresses are optional";
}

TEST(DevicePlan, TheMaxBufferSizeLimitsAllocations) {
  DeviceSnapshot s = discrete();
  s.maxBufferSize = uint64_t{1} << 30;
  EXPECT_EQ(planDevice(s).info.profile.maxAllocationBytes, uint64_t{1} << 30);
}

TEST(DevicePlan, NamesEverythingThatIsMissing) {
  DeviceSnapshot s = discrete();
  s.features12.timelineSemaphore = VK_FALSE;
  s.features12.scalarBlockLayout = VK_FALSE;
  s.queueFamilies[0].queueFlags = VK_QUEUE_TRANSFER_BIT;
  EXPECT_EQ(planDevice(s).info.missing, "timelineSemaphore, scalarBlockLayout, a compute queue");
  s.properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 1, 97);
  EXPECT_EQ(planDevice(s).info.missing, "Vulkan 1.2 (it has 1.1.97), a compute queue");
}

TEST(DevicePlan, ChoosesAComputeQueueWithTimestamps) {
  DeviceSnapshot s = discrete();
  VkQueueFamilyProperties compute{};
  compute.queueFlags = VK_QUEUE_COMPUTE_BIT;
  compute.queueCount = 4;
  compute.timestampValidBits = 64;
  s.queueFamilies[0].timestampValidBits = 0;
  s.queueFamilies.push_back(compute);
  EXPECT_EQ(planDevice(s).queueFamily, 1u);
  s.queueFamilies.pop_back();
  EXPECT_EQ(planDevice(s).queueFamily, 0u);
  EXPECT_FALSE(planDevice(s).info.timestamps);
}

TEST(DevicePlan, EnablesThePortabilitySubsetIfItExists) {
  DeviceSnapshot s = discrete();
  EXPECT_TRUE(planDevice(s).extensions.empty());
  s.extensions = {"VK_KHR_portability_subset"};
  ASSERT_EQ(planDevice(s).extensions.size(), 1u);
  EXPECT_STREQ(planDevice(s).extensions[0], "VK_KHR_portability_subset");
}

TEST(ChooseDevice, PrefersDiscreteIntegratedVirtualSoftware) {
  const std::vector<DevicePlan> plans =
      plansOf({software(), usable("virt", VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU),
               usable("Iris", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU), discrete()});
  EXPECT_EQ(plans[0].info.name, "GeForce Something");
  EXPECT_EQ(plans[1].info.name, "Iris");
  EXPECT_EQ(plans[2].info.name, "virt");
  EXPECT_EQ(plans[3].info.name, "llvmpipe (LLVM 15.0.6, 256 bits)");
  EXPECT_EQ(*chooseDevice(plans, "", ""), 0u);
}

TEST(ChooseDevice, AcceptsAnIndexOrPartOfAName) {
  const std::vector<DevicePlan> plans = plansOf({discrete(), software()});
  EXPECT_EQ(*chooseDevice(plans, "1", ""), 1u);
  EXPECT_EQ(*chooseDevice(plans, "LLVMpipe", ""), 1u);
  EXPECT_EQ(*chooseDevice(plans, "", "llvm"), 1u);
  EXPECT_EQ(*chooseDevice(plans, "0", "llvm"), 0u) << "the selector precedes the environment";
  EXPECT_EQ(*chooseDevice(plans, "256 bits", ""), 1u) << "text that begins with digits is a name";
}

TEST(ChooseDevice, AWrongSelectorIsRefusedWithAListOfTheDevices) {
  const std::vector<DevicePlan> plans = plansOf({discrete(), software()});
  for (const char *wrong : {"2", "99999999999999999999", "radeon", "-1"}) {
    const Result<size_t> result = chooseDevice(plans, wrong, "");
    ASSERT_FALSE(result.isOk()) << wrong;
    EXPECT_EQ(result.status().code(), StatusCode::kNotFound);
    EXPECT_EQ(result.status().message(),
              std::string("no device '") + wrong +
                  "'; there are: 0: GeForce Something, 1: llvmpipe (LLVM 15.0.6, 256 bits)");
  }
  EXPECT_NE(chooseDevice(plans, "", "radeon").status().message().find("(from GANTRY_DEVICE)"),
            std::string::npos);
}

TEST(ChooseDevice, SkipsUnusableDevicesAndSaysWhy) {
  DeviceSnapshot old = discrete();
  old.properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 0, 5);
  const std::vector<DevicePlan> plans = plansOf({old, software()});
  EXPECT_EQ(*chooseDevice(plans, "", ""), 1u);
  const Result<size_t> chosen = chooseDevice(plans, "geforce", "");
  ASSERT_FALSE(chosen.isOk());
  EXPECT_EQ(chosen.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(chosen.status().message(), "device 'GeForce Something' cannot be used: it lacks Vulkan "
                                       "1.2 (it has 1.0.5)");
  EXPECT_EQ(chooseDevice(plansOf({old}), "", "").status().code(), StatusCode::kUnsupported);
}

TEST(ChooseDevice, NamesThePackageWithoutAnyDevice) {
  const Result<size_t> result = chooseDevice({}, "", "");
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), StatusCode::kNotFound);
  EXPECT_NE(result.status().message().find("mesa-vulkan-drivers"), std::string::npos);
}

TEST(DevicePlan, ReadsMemory) {
  const device::DeviceInfo info = planDevice(discrete()).info;
  ASSERT_EQ(info.memoryHeaps.size(), 3u);
  EXPECT_EQ(info.memoryHeaps[1].sizeBytes, uint64_t{64} << 30);
  EXPECT_FALSE(info.memoryHeaps[1].deviceLocal);
  EXPECT_TRUE(info.memoryHeaps[2].deviceLocal);
  ASSERT_EQ(info.memoryTypes.size(), 5u);
  EXPECT_EQ(info.memoryTypes[4].heap, 2u);
  EXPECT_TRUE(info.memoryTypes[4].deviceLocal && info.memoryTypes[4].hostVisible);
  EXPECT_EQ(info.memoryKinds.of(MemoryKind::kDevice).types[0], 1);
  EXPECT_EQ(info.memoryKinds.of(MemoryKind::kReadback).types[0], 3);
}

TEST(DevicePlan, TypesThatNeedAFeatureAreNotUsable) {
  DeviceSnapshot s = discrete();
  for (VkMemoryPropertyFlags flag :
       {VkMemoryPropertyFlags(VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT),
        VkMemoryPropertyFlags(VK_MEMORY_PROPERTY_PROTECTED_BIT),
        VkMemoryPropertyFlags(VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD),
        VkMemoryPropertyFlags(VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV)}) {
    s.memory.memoryTypes[1].propertyFlags = kLocal | flag;
    EXPECT_FALSE(planDevice(s).info.memoryTypes[1].usable) << flag;
  }
}

TEST(DevicePlan, CalibratesClocksIfTheDriverReadsDeviceAndMonotonicTime) {
  DeviceSnapshot s = discrete();
  s.extensions = {VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME};
  EXPECT_FALSE(planDevice(s).info.calibratedClocks);
  s.timeDomains = {VK_TIME_DOMAIN_DEVICE_EXT, VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_EXT};
  EXPECT_FALSE(planDevice(s).info.calibratedClocks) << "the monotonic clock is missing";
  EXPECT_TRUE(planDevice(s).extensions.empty());
  s.timeDomains.push_back(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
  DevicePlan plan = planDevice(s);
  EXPECT_TRUE(plan.info.calibratedClocks);
  EXPECT_EQ(plan.extensions.size(), 1u);
  EXPECT_EQ(plan.ticksToNs((uint64_t{1} << 36) + 5), 10u) << "36 bits, 2 ns each";
  s.queueFamilies[0].timestampValidBits = 0;
  EXPECT_FALSE(planDevice(s).info.calibratedClocks) << "no clock to read";
}

TEST(DevicePlan, EnablesTheUsefulExtensions) {
  DeviceSnapshot s = discrete();
  EXPECT_FALSE(planDevice(s).info.memoryBudgets);
  EXPECT_FALSE(planDevice(s).info.external.opaqueFds);
  s.extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME,
                  VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                  VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME};
  DevicePlan plan = planDevice(s);
  EXPECT_TRUE(plan.info.memoryBudgets);
  EXPECT_FALSE(plan.info.memoryPriorities) << "the extension lacks its feature";
  EXPECT_FALSE(plan.info.external.opaqueFds) << "the extension cannot share buffers";
  EXPECT_EQ(plan.extensions.size(), 1u);
  s.memoryPriority = VK_TRUE;
  s.opaqueFd =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  s.hostPointer = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  s.hostPointerAlignment = 4096;
  plan = planDevice(s);
  EXPECT_TRUE(plan.info.memoryPriorities);
  EXPECT_TRUE(plan.info.external.opaqueFds);
  EXPECT_EQ(plan.info.external.hostPointerAlignmentBytes, 4096u);
  EXPECT_EQ(plan.extensions.size(), 4u);
}

TEST(DevicePlan, VirtualMemoryNeedsResidencyAndASparseQueue) {
  DeviceSnapshot s = discrete();
  s.properties.limits.sparseAddressSpaceSize = uint64_t{1} << 40;
  s.features.sparseBinding = VK_TRUE;
  s.queueFamilies[0].queueFlags |= VK_QUEUE_SPARSE_BINDING_BIT;
  EXPECT_FALSE(planDevice(s).info.virtualMemory.supported);
  s.features.sparseResidencyBuffer = VK_TRUE;
  DevicePlan plan = planDevice(s);
  EXPECT_TRUE(plan.info.virtualMemory.supported);
  EXPECT_EQ(plan.info.virtualMemory.maxRangeBytes, uint64_t{1} << 40);
  EXPECT_EQ(plan.sparseQueueFamily, 0u);
  VkQueueFamilyProperties binder{};
  binder.queueFlags = VK_QUEUE_SPARSE_BINDING_BIT;
  binder.queueCount = 1;
  s.queueFamilies.push_back(binder);
  EXPECT_EQ(planDevice(s).sparseQueueFamily, 0u) << "the compute family is preferred";
  s.queueFamilies[0].queueFlags &= ~VkQueueFlags(VK_QUEUE_SPARSE_BINDING_BIT);
  EXPECT_EQ(planDevice(s).sparseQueueFamily, 1u);
  s.queueFamilies.pop_back();
  EXPECT_FALSE(planDevice(s).info.virtualMemory.supported);
}

TEST(DevicePlan, KeepsDenormalsOnlyIfTheWidthsAreIndependent) {
  DeviceSnapshot s = usable("GPU", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
  s.floats.shaderSignedZeroInfNanPreserveFloat32 = VK_TRUE;
  s.floats.shaderDenormPreserveFloat16 = s.floats.shaderDenormPreserveFloat32 = VK_TRUE;
  s.floats.denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY;
  FloatControls floats = planDevice(s).floats;
  EXPECT_TRUE(floats.f32.keepsSpecials);
  EXPECT_FALSE(floats.f16.keepsSpecials);
  EXPECT_TRUE(floats.f32.keepsDenormals);
  EXPECT_FALSE(floats.f16.keepsDenormals);
  s.floats.denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  EXPECT_FALSE(planDevice(s).floats.f32.keepsDenormals);
  s.floats.denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  EXPECT_TRUE(planDevice(s).floats.f16.keepsDenormals);
}

TEST(ParseValidation, AcceptsThreeValues) {
  EXPECT_EQ(*parseValidation(""), Validation::kOff);
  EXPECT_EQ(*parseValidation("0"), Validation::kOff);
  EXPECT_EQ(*parseValidation("1"), Validation::kOn);
  EXPECT_EQ(*parseValidation("sync"), Validation::kSynchronization);
  const auto wrong = parseValidation("yes");
  ASSERT_FALSE(wrong.isOk());
  EXPECT_EQ(wrong.status().message(), "GANTRY_VALIDATION is 'yes'; it takes 0, 1 or sync");
}

} // namespace
} // namespace gantry::vulkan

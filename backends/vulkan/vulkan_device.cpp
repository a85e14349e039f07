// Implements the opening of a device, submissions, waits, sparse bindings and the warm-up of
// kernels.
#include "backends/vulkan/vulkan_device.h"
#include "backends/vulkan/command_list.h"
#include "backends/vulkan/kernel.h"
#include "backends/vulkan/memory.h"
#include "engine/base/pin_modules.h"
#include "backends/vulkan/vulkan.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace gantry::vulkan {

namespace {

/// Max number of attempts to wait for the device. A wait may fail because host memory is exhausted,
/// while the device still uses objects that are about to be destroyed.
constexpr int kMaxWaitAttempts = 64;

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The feature structures of vkCreateDevice, chained by pNext: exactly the features that the device
/// has and that the backend or its kernels use. The object must not move while the chain is in use.
class FeatureChain {
public:
  explicit FeatureChain(const DevicePlan &plan) {
    const DeviceFeatures &wanted = plan.info.profile.features;
    const bool usesMatrices = !plan.info.profile.matrixShapes.empty();
    const bool isSparse = plan.info.virtualMemory.supported;
    core_.features.shaderInt64 = wanted.shaderInt64;
    core_.features.shaderInt16 = wanted.shaderInt16;
    core_.features.shaderFloat64 = wanted.shaderFloat64;
    core_.features.sparseBinding = isSparse;
    core_.features.sparseResidencyBuffer = isSparse;
    version11_.storageBuffer16BitAccess = wanted.storageBuffer16BitAccess;
    version12_.timelineSemaphore = VK_TRUE;
    version12_.scalarBlockLayout = VK_TRUE;
    version12_.shaderInt8 = wanted.shaderInt8;
    version12_.shaderFloat16 = wanted.shaderFloat16;
    version12_.storageBuffer8BitAccess = wanted.storageBuffer8BitAccess;
    version12_.bufferDeviceAddress = wanted.bufferDeviceAddress;
    version12_.vulkanMemoryModel = usesMatrices; // Kernels with cooperative matrices declare it.
    priorities_.memoryPriority = VK_TRUE;
    dotProduct_.shaderIntegerDotProduct = VK_TRUE;
    subgroupSizes_.subgroupSizeControl = subgroupSizes_.computeFullSubgroups = VK_TRUE;
    matrices_.cooperativeMatrix = VK_TRUE;
    if (usesMatrices)
      append(matrices_);
    append(version11_);
    append(version12_);
    if (plan.info.memoryPriorities)
      append(priorities_);
    if (wanted.integerDotProduct)
      append(dotProduct_);
    if (plan.subgroupSizes)
      append(subgroupSizes_);
  }
  FeatureChain(const FeatureChain &) = delete;
  FeatureChain &operator=(const FeatureChain &) = delete;

  const void *head() const { return &core_; }

private:
  template <typename Structure> void append(Structure &structure) {
    *end_ = &structure;
    end_ = &structure.pNext;
  }

  VkPhysicalDeviceFeatures2 core_ =
      zeroed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features version11_ = zeroed<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features version12_ = zeroed<VkPhysicalDeviceVulkan12Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  VkPhysicalDeviceMemoryPriorityFeaturesEXT priorities_ =
      zeroed<VkPhysicalDeviceMemoryPriorityFeaturesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT);
  VkPhysicalDeviceShaderIntegerDotProductFeatures dotProduct_ =
      zeroed<VkPhysicalDeviceShaderIntegerDotProductFeatures>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroupSizes_ =
      zeroed<VkPhysicalDeviceSubgroupSizeControlFeatures>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices_ =
      zeroed<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  void **end_ = &core_.pNext;
};

} // namespace

Result<std::vector<device::DeviceInfo>> listDevices() {
  GANTRY_ASSIGN_OR_RETURN(auto instance, Instance::create(Validation::kOff));
  std::vector<device::DeviceInfo> infos;
  for (const DevicePlan &plan : instance->plans())
    infos.push_back(plan.info);
  return infos;
}

Result<std::shared_ptr<device::Device>> openDevice(const std::string &selector) {
  return openDevice(selector, DriverHooks());
}

Result<std::shared_ptr<device::Device>> openDevice(const std::string &selector,
                                                   const DriverHooks &hooks) {
  GANTRY_ASSIGN_OR_RETURN(Validation validation, parseValidation(environment("GANTRY_VALIDATION")));
  GANTRY_ASSIGN_OR_RETURN(auto instance, Instance::create(validation, hooks));
  GANTRY_ASSIGN_OR_RETURN(size_t index,
                          chooseDevice(instance->plans(), selector, environment("GANTRY_DEVICE")));
  GANTRY_ASSIGN_OR_RETURN(auto device, VulkanDevice::open(std::move(instance), index));
  return std::shared_ptr<device::Device>(std::move(device));
}

Result<std::shared_ptr<VulkanDevice>> VulkanDevice::open(std::unique_ptr<Instance> instance,
                                                         size_t deviceIndex) {
  std::shared_ptr<VulkanDevice> device(new VulkanDevice);
  device->instance_ = std::move(instance);
  GANTRY_RETURN_IF_ERROR(device->create(deviceIndex));
  return device;
}

Status VulkanDevice::create(size_t deviceIndex) {
  index_ = deviceIndex;
  info_ = plan().info;
  hostImportName_ = trace::intern("host pointer");
  fdImportName_ = trace::intern("descriptor");
  const LoadedModules before;
  const FeatureChain features(plan());
  const bool isSparse = info_.virtualMemory.supported;
  const float priority = 1.0f;
  auto queue = zeroed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = plan().queueFamily;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceQueueCreateInfo queues[] = {queue, queue};
  queues[1].queueFamilyIndex = plan().sparseQueueFamily;
  auto create = zeroed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  create.pNext = features.head();
  create.queueCreateInfoCount = isSparse && plan().sparseQueueFamily != plan().queueFamily ? 2 : 1;
  create.pQueueCreateInfos = queues;
  create.enabledExtensionCount = static_cast<uint32_t>(plan().extensions.size());
  create.ppEnabledExtensionNames = plan().extensions.data();
  if (const VkResult created = instance_->functions().vkCreateDevice(
          instance_->physicalDevices()[index_], &create, nullptr, &device_);
      created < 0) {
    const Status failed = callFailedf(created, "vkCreateDevice on '%s'", info_.name.c_str());
    return Status(failed.code(), failed.message() + "; " + createDeviceRemedy(created));
  }
  before.pinNewer(); // Libraries that the driver has loaded stay loaded (pin_modules.h).
  volkLoadDeviceTable(&table_, device_);
  if (instance_->hooks().device)
    instance_->hooks().device(table_);
  table_.vkGetDeviceQueue(device_, plan().queueFamily, 0, &queue_);

  GANTRY_ASSIGN_OR_RETURN(timeline_, createTimeline());
  return isSparse ? openSparse() : Status::ok();
}

Result<VkSemaphore> VulkanDevice::createTimeline() {
  auto type = zeroed<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto create = zeroed<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  create.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  GANTRY_VK(table_.vkCreateSemaphore(device_, &create, nullptr, &semaphore), "vkCreateSemaphore");
  return semaphore;
}

// Gets the queue for sparse bindings. The driver's granularity may be larger than the planned one,
// so it is read from the memory requirements of a small buffer.
Status VulkanDevice::openSparse() {
  table_.vkGetDeviceQueue(device_, plan().sparseQueueFamily, 0, &sparseQueue_);
  GANTRY_ASSIGN_OR_RETURN(bindings_, createTimeline());
  auto create = zeroed<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  create.flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
  create.size = info_.virtualMemory.granularityBytes;
  create.usage = bufferUsage();
  VkBuffer buffer = VK_NULL_HANDLE;
  GANTRY_VK(table_.vkCreateBuffer(device_, &create, nullptr, &buffer), "vkCreateBuffer(sparse)");
  VkMemoryRequirements requirements;
  table_.vkGetBufferMemoryRequirements(device_, buffer, &requirements);
  table_.vkDestroyBuffer(device_, buffer, nullptr);
  info_.virtualMemory.granularityBytes =
      std::max(info_.virtualMemory.granularityBytes, requirements.alignment);
  return {};
}

VulkanDevice::~VulkanDevice() {
  if (!device_)
    return;
  // The objects may be destroyed only when the queue does not use them any more.
  for (int i = 0; i < kMaxWaitAttempts; ++i)
    if (const VkResult result = table_.vkDeviceWaitIdle(device_);
        result >= 0 || result == VK_ERROR_DEVICE_LOST)
      break;
  for (auto &[key, layout] : pipelineLayouts_)
    table_.vkDestroyPipelineLayout(device_, layout, nullptr);
  for (auto &[key, layout] : setLayouts_)
    table_.vkDestroyDescriptorSetLayout(device_, layout, nullptr);
  table_.vkDestroySemaphore(device_, timeline_, nullptr);
  table_.vkDestroySemaphore(device_, bindings_, nullptr);
  table_.vkDestroyDevice(device_, nullptr);
}

Result<VulkanDevice::Layout> VulkanDevice::layout(const std::vector<Descriptor> &descriptors,
                                                  uint32_t pushConstantBytes) {
  std::lock_guard lock(layoutMutex_);
  Layout result;
  if (!descriptors.empty()) {
    VkDescriptorSetLayout &set = setLayouts_[descriptors];
    if (!set) {
      std::vector<VkDescriptorSetLayoutBinding> bindings;
      for (const Descriptor &descriptor : descriptors)
        bindings.push_back(
            {descriptor.binding, descriptor.type, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
      auto create = zeroed<VkDescriptorSetLayoutCreateInfo>(
          VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
      create.bindingCount = static_cast<uint32_t>(bindings.size());
      create.pBindings = bindings.data();
      GANTRY_VK(table_.vkCreateDescriptorSetLayout(device_, &create, nullptr, &set),
                "vkCreateDescriptorSetLayout(" + std::to_string(bindings.size()) + " buffers)");
    }
    result.set = set;
  }
  VkPipelineLayout &pipeline = pipelineLayouts_[{descriptors, pushConstantBytes}];
  if (!pipeline) {
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushConstantBytes};
    auto create = zeroed<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    create.setLayoutCount = result.set ? 1 : 0;
    create.pSetLayouts = &result.set;
    create.pushConstantRangeCount = pushConstantBytes ? 1 : 0;
    create.pPushConstantRanges = &range;
    GANTRY_VK(table_.vkCreatePipelineLayout(device_, &create, nullptr, &pipeline),
              "vkCreatePipelineLayout");
  }
  result.pipeline = pipeline;
  return result;
}

Result<std::unique_ptr<device::Memory>>
VulkanDevice::doAllocate(device::MemoryKind kind, uint64_t sizeBytes,
                         const device::AllocateOptions &options) {
  return VulkanMemory::allocate(self(), kind, sizeBytes, options);
}

Status VulkanDevice::doMemoryBudgets(std::span<device::MemoryBudget> perHeap) {
  auto budget = zeroed<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  auto memory = zeroed<VkPhysicalDeviceMemoryProperties2>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  memory.pNext = &budget;
  instance_->functions().vkGetPhysicalDeviceMemoryProperties2(instance_->physicalDevices()[index_],
                                                              &memory);
  for (size_t i = 0; i < perHeap.size(); ++i)
    perHeap[i] = {budget.heapBudget[i], budget.heapUsage[i]};
  return {};
}

Result<device::ClockReading> VulkanDevice::doReadClocks() {
  auto hostClock =
      zeroed<VkCalibratedTimestampInfoEXT>(VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT);
  hostClock.timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
  VkCalibratedTimestampInfoEXT deviceClock = hostClock;
  deviceClock.timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
  const VkCalibratedTimestampInfoEXT clocks[] = {hostClock, deviceClock};
  uint64_t times[2] = {};
  uint64_t deviation = 0;
  GANTRY_VK(table_.vkGetCalibratedTimestampsEXT(device_, 2, clocks, times, &deviation),
            "vkGetCalibratedTimestampsEXT");
  return device::ClockReading{times[0], plan().ticksToNs(times[1]), deviation};
}

Result<std::unique_ptr<device::Memory>> VulkanDevice::doReserve(uint64_t rangeBytes) {
  return VulkanMemory::reserve(self(), rangeBytes);
}

Result<uint64_t> VulkanDevice::doCommit(device::Memory &range, uint64_t offset, uint64_t size) {
  return static_cast<VulkanMemory &>(range).commit(offset, size);
}

Status VulkanDevice::doDecommit(device::Memory &range, uint64_t offset, uint64_t size) {
  return static_cast<VulkanMemory &>(range).decommit(offset, size);
}

void VulkanDevice::doRelease(device::Memory &range, uint64_t token) {
  static_cast<VulkanMemory &>(range).release(token);
}

Result<std::unique_ptr<device::Memory>> VulkanDevice::doImport(const device::ImportSource &source) {
  return VulkanMemory::import(self(), source);
}

Result<int> VulkanDevice::doExport(device::Memory &memory) {
  return static_cast<VulkanMemory &>(memory).exportFd();
}

void VulkanDevice::setName(VkObjectType type, uint64_t handle, const char *name) {
  if (!instance_->functions().vkSetDebugUtilsObjectNameEXT)
    return;
  auto info =
      zeroed<VkDebugUtilsObjectNameInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT);
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = name;
  // Only debugging tools use the name, so a failure is ignored.
  static_cast<void>(instance_->functions().vkSetDebugUtilsObjectNameEXT(device_, &info));
}

Result<std::vector<std::unique_ptr<device::Kernel>>>
VulkanDevice::doCreateKernels(std::span<const device::KernelSource> sources,
                              const std::optional<std::string> &cachePath) {
  return compileKernels(self(), sources, cachePath);
}

// Dispatches each kernel with zero workgroups. Software devices generate a pipeline's machine code
// at its first dispatch, which takes 20 to 330 ms per kernel in Mesa 22.3.
Status VulkanDevice::doWarmUp(std::span<const std::unique_ptr<device::Kernel>> kernels) {
  uint32_t maxBuffers = 0;
  device::CommandListCapacity capacity;
  for (const auto &kernel : kernels) {
    maxBuffers = std::max(maxBuffers, kernel->bufferCount());
    capacity.dispatches += 1;
    capacity.storageBuffers += kernel->storageBufferCount();
    capacity.texelBuffers += static_cast<uint32_t>(kernel->texels().size());
  }
  GANTRY_ASSIGN_OR_RETURN(auto memory, allocate(device::MemoryKind::kDevice, 256));
  const std::vector<device::BufferRange> buffers(maxBuffers, {memory.get(), 0, 256});
  GANTRY_ASSIGN_OR_RETURN(auto list, createCommandList());
  GANTRY_RETURN_IF_ERROR(list->begin(capacity));
  for (const auto &kernel : kernels) {
    const std::vector<uint64_t> dims(kernel->dimCount(), 0);
    device::Dispatch dispatch;
    dispatch.kernel = kernel.get();
    dispatch.buffers = std::span(buffers).first(kernel->bufferCount());
    dispatch.dims = dims;
    for (uint32_t &count : dispatch.workgroups)
      count = 0;
    GANTRY_RETURN_IF_ERROR(list->dispatch(dispatch));
    // The dispatches access nothing, but synchronization validation assumes that they do.
    GANTRY_RETURN_IF_ERROR(list->barrier());
  }
  GANTRY_RETURN_IF_ERROR(list->end());
  GANTRY_ASSIGN_OR_RETURN(uint64_t ticket, submit(*list));
  // The list and the memory must not be destroyed before the submission is done, even if a wait
  // fails because host memory is exhausted.
  Result<bool> done = wait(ticket, UINT64_MAX);
  for (int i = 0; i < kMaxWaitAttempts && !done.isOk() && !isLost(); ++i)
    if (wait(ticket, UINT64_MAX).isOk())
      break;
  return done.status();
}

Result<std::unique_ptr<device::CommandList>> VulkanDevice::doCreateCommandList() {
  std::unique_ptr<device::CommandList> list(new (std::nothrow) VulkanCommandList(self()));
  if (!list)
    return noHostMemory();
  return list;
}

Result<uint64_t> VulkanDevice::doSubmit(device::CommandList &list) {
  const VkCommandBuffer commands = static_cast<VulkanCommandList &>(list).handle();
  std::lock_guard lock(queueMutex_);
  const uint64_t ticket = lastTicket_ + 1;
  auto timeline =
      zeroed<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &ticket;
  auto submit = zeroed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.pNext = &timeline;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  submit.signalSemaphoreCount = 1;
  submit.pSignalSemaphores = &timeline_;
  constexpr VkPipelineStageFlags kStages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  const uint64_t binding = lastBinding_;
  if (binding > waitedBinding_) {
    timeline.waitSemaphoreValueCount = 1;
    timeline.pWaitSemaphoreValues = &binding;
    submit.waitSemaphoreCount = 1;
    submit.pWaitSemaphores = &bindings_;
    submit.pWaitDstStageMask = &kStages;
  }
  const VkResult result = table_.vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE);
  if (result < 0)
    return callFailed("vkQueueSubmit", result);
  waitedBinding_ = binding;
  lastTicket_ = ticket;
  return ticket;
}

Status VulkanDevice::bindSparse(VkBuffer buffer, uint64_t offset, uint64_t size,
                                VkDeviceMemory memory) {
  uint64_t binding = 0;
  {
    std::lock_guard lock(queueMutex_);
    binding = lastBinding_ + 1;
    VkSparseMemoryBind bind{};
    bind.resourceOffset = offset;
    bind.size = size;
    bind.memory = memory;
    const VkSparseBufferMemoryBindInfo bufferBind{buffer, 1, &bind};
    auto timeline =
        zeroed<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &binding;
    auto info = zeroed<VkBindSparseInfo>(VK_STRUCTURE_TYPE_BIND_SPARSE_INFO);
    info.pNext = &timeline;
    info.bufferBindCount = 1;
    info.pBufferBinds = &bufferBind;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &bindings_;
    GANTRY_VK(table_.vkQueueBindSparse(sparseQueue_, 1, &info, VK_NULL_HANDLE),
              "vkQueueBindSparse");
    lastBinding_ = binding;
  }
  if (memory)
    return {};
  return waitFor(bindings_, binding, UINT64_MAX).status();
}

void VulkanDevice::finishBindings() {
  uint64_t binding = 0;
  {
    std::lock_guard lock(queueMutex_);
    binding = lastBinding_;
  }
  if (binding == 0)
    return;
  for (int i = 0; i < kMaxWaitAttempts && !isLost(); ++i)
    if (waitFor(bindings_, binding, UINT64_MAX).isOk())
      return;
  markLost();
}

Result<bool> VulkanDevice::waitFor(VkSemaphore timeline, uint64_t value, uint64_t timeoutNs) {
  auto wait = zeroed<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  wait.semaphoreCount = 1;
  wait.pSemaphores = &timeline;
  wait.pValues = &value;
  const VkResult result = table_.vkWaitSemaphores(device_, &wait, timeoutNs);
  if (result < 0)
    return callFailed("vkWaitSemaphores", result);
  return result == VK_SUCCESS;
}

Result<bool> VulkanDevice::doWait(uint64_t ticket, uint64_t timeoutNs) {
  return waitFor(timeline_, ticket, timeoutNs);
}

Result<uint64_t> VulkanDevice::doCompleted() {
  uint64_t value = 0;
  GANTRY_VK(table_.vkGetSemaphoreCounterValue(device_, timeline_, &value),
            "vkGetSemaphoreCounterValue");
  return value;
}

} // namespace gantry::vulkan

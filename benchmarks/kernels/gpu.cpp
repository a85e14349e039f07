// Implements the device (Gpu) and the buffers (GpuBuffer) of gpu.h. gpu_commands.cpp has the rest.
#include "benchmarks/kernels/vk.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>

namespace gantry::bench {

namespace {

constexpr const char *kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr uint64_t kStagingBytes = uint64_t{64} << 20;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool wantsValidation() {
  const char *text = std::getenv("GANTRY_VALIDATION");
  return text && *text && std::strcmp(text, "0") != 0;
}

} // namespace

double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

VKAPI_ATTR VkBool32 VKAPI_CALL Gpu::onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                              VkDebugUtilsMessageTypeFlagsEXT,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user) {
  ++static_cast<Gpu *>(user)->messages_;
  std::fprintf(stderr, "validation: %s\n", data->pMessage);
  return VK_FALSE;
}

Gpu::Gpu(const std::string &selector) {
  if (volkInitialize() != VK_SUCCESS)
    throw GpuError("there is no Vulkan loader; install the package libvulkan1");
  openInstance();
  choose(selector);
  openDevice();
}

Gpu::~Gpu() {
  vkDestroyFence(device_, fence_, nullptr);
  vkDestroyCommandPool(device_, pool_, nullptr);
  vkDestroyDevice(device_, nullptr);
  if (messenger_)
    vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  vkDestroyInstance(instance_, nullptr);
}

void Gpu::openInstance() {
  auto application = zeroed<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.apiVersion = VK_API_VERSION_1_3;
  auto messenger = zeroed<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pfnUserCallback = &Gpu::onMessage;
  messenger.pUserData = this;
  const char *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  auto create = zeroed<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  create.pApplicationInfo = &application;
  if (wantsValidation()) {
    create.enabledLayerCount = create.enabledExtensionCount = 1;
    create.ppEnabledLayerNames = &kValidationLayer;
    create.ppEnabledExtensionNames = &extension;
  }
  check(vkCreateInstance(&create, nullptr, &instance_), "vkCreateInstance");
  volkLoadInstance(instance_);
  if (wantsValidation())
    check(vkCreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_),
          "vkCreateDebugUtilsMessengerEXT");
}

void Gpu::choose(const std::string &selector) {
  uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> devices(count);
  check(vkEnumeratePhysicalDevices(instance_, &count, devices.data()),
        "vkEnumeratePhysicalDevices");
  std::string names;
  for (uint32_t i = 0; i < count && !physical_; ++i) {
    auto subgroup = zeroed<VkPhysicalDeviceSubgroupProperties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    auto identity =
        zeroed<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
    subgroup.pNext = &identity;
    auto properties =
        zeroed<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
    properties.pNext = &subgroup;
    vkGetPhysicalDeviceProperties2(devices[i], &properties);
    const VkPhysicalDeviceProperties &basic = properties.properties;
    names += (names.empty() ? "" : ", ") + std::string(basic.deviceName);
    if (!selector.empty() && selector != std::to_string(i) &&
        lower(basic.deviceName).find(lower(selector)) == std::string::npos)
      continue;
    physical_ = devices[i];
    info_ = {.name = basic.deviceName,
             .software = basic.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
             .subgroupSize = subgroup.subgroupSize,
             .maxStorageBufferRange = basic.limits.maxStorageBufferRange,
             .maxTexelElements = basic.limits.maxTexelBufferElements,
             .timestampNs = basic.limits.timestampPeriod};
    std::ranges::copy(identity.deviceUUID, info_.uuid.begin());
  }
  if (!physical_)
    throw GpuError(
        "no Vulkan device \"" + selector + "\"; there are: " +
        (names.empty() ? "none (install mesa-vulkan-drivers for a software device)" : names));
}

/// Finds out whether kernels can require a subgroup size, a feature of Vulkan 1.3. A driver without
/// this feature chooses the size itself.
void Gpu::readSubgroupControl() {
  VkPhysicalDeviceProperties basic{};
  vkGetPhysicalDeviceProperties(physical_, &basic);
  if (basic.apiVersion < VK_API_VERSION_1_3)
    return;
  auto control = zeroed<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  auto features = zeroed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  features.pNext = &control;
  vkGetPhysicalDeviceFeatures2(physical_, &features);
  auto sizes = zeroed<VkPhysicalDeviceSubgroupSizeControlProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
  auto properties =
      zeroed<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &sizes;
  vkGetPhysicalDeviceProperties2(physical_, &properties);
  info_.fixesSubgroupSize = control.subgroupSizeControl &&
                            (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
}

void Gpu::openDevice() {
  readSubgroupControl();
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  while (family_ < count && !(families[family_].queueFlags & VK_QUEUE_COMPUTE_BIT))
    ++family_;
  if (family_ == count)
    throw GpuError(info_.name + " has no compute queue");

  const float priority = 1;
  auto queue = zeroed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto create = zeroed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  create.queueCreateInfoCount = 1;
  create.pQueueCreateInfos = &queue;
  auto control = zeroed<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  control.subgroupSizeControl = VK_TRUE;
  if (info_.fixesSubgroupSize)
    create.pNext = &control;
  check(vkCreateDevice(physical_, &create, nullptr, &device_), "vkCreateDevice");
  volkLoadDevice(device_);
  vkGetDeviceQueue(device_, family_, 0, &queue_);

  auto pool = zeroed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = family_;
  check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
  auto fence = zeroed<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  check(vkCreateFence(device_, &fence, nullptr, &fence_), "vkCreateFence");
}

uint32_t Gpu::memoryType(uint32_t bits, VkMemoryPropertyFlags properties) const {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((bits >> i & 1) && (memory.memoryTypes[i].propertyFlags & properties) == properties)
      return i;
  throw GpuError(info_.name + " has no memory type with the properties " +
                 std::to_string(properties));
}

void Gpu::submitAndWait(VkCommandBuffer commands) {
  auto submit = zeroed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  check(vkQueueSubmit(queue_, 1, &submit, fence_), "vkQueueSubmit");
  check(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  check(vkResetFences(device_, 1, &fence_), "vkResetFences");
}

GpuBuffer::GpuBuffer(Gpu &gpu, uint64_t sizeBytes, VkMemoryPropertyFlags properties)
    : gpu_(gpu), sizeBytes_(sizeBytes) {
  auto create = zeroed<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  create.size = sizeBytes;
  create.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  check(vkCreateBuffer(gpu.device(), &create, nullptr, &buffer_), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(gpu.device(), buffer_, &needs);
  auto allocate = zeroed<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = gpu.memoryType(needs.memoryTypeBits, properties);
  check(vkAllocateMemory(gpu.device(), &allocate, nullptr, &memory_), "vkAllocateMemory");
  check(vkBindBufferMemory(gpu.device(), buffer_, memory_, 0), "vkBindBufferMemory");
}

GpuBuffer::GpuBuffer(Gpu &gpu, uint64_t sizeBytes)
    : GpuBuffer(gpu, sizeBytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) {}

GpuBuffer::GpuBuffer(Gpu &gpu, std::span<const float> content)
    : GpuBuffer(gpu, content.size_bytes()) {
  upload(content);
}

GpuBuffer::~GpuBuffer() {
  vkDestroyBuffer(gpu_.device(), buffer_, nullptr);
  vkFreeMemory(gpu_.device(), memory_, nullptr);
}

void GpuBuffer::upload(std::span<const float> content) {
  if (content.size_bytes() != sizeBytes_)
    throw GpuError("upload of " + std::to_string(content.size_bytes()) +
                   " bytes into a buffer of " + std::to_string(sizeBytes_) +
                   " bytes; the sizes must be equal");
  transfer(nullptr, content.data());
}

std::vector<float> GpuBuffer::download() const {
  std::vector<float> content(sizeBytes_ / sizeof(float));
  transfer(content.data(), nullptr);
  return content;
}

/// Copies in pieces through a staging buffer. Exactly one of the two host pointers is not null.
void GpuBuffer::transfer(float *to, const float *from) const {
  const uint64_t chunk = std::min(sizeBytes_, kStagingBytes);
  GpuBuffer staging(gpu_, chunk,
                    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  void *mapped = nullptr;
  check(vkMapMemory(gpu_.device(), staging.memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  auto allocate =
      zeroed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = gpu_.pool();
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  for (uint64_t at = 0; at < sizeBytes_; at += chunk) {
    const uint64_t bytes = std::min(chunk, sizeBytes_ - at);
    if (from)
      std::memcpy(mapped, reinterpret_cast<const char *>(from) + at, bytes);
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(gpu_.device(), &allocate, &commands),
          "vkAllocateCommandBuffers");
    auto begin = zeroed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    const VkBufferCopy region{from ? 0 : at, from ? at : 0, bytes};
    vkCmdCopyBuffer(commands, from ? staging.buffer_ : buffer_, from ? buffer_ : staging.buffer_, 1,
                    &region);
    auto barrier = zeroed<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    gpu_.submitAndWait(commands);
    vkFreeCommandBuffers(gpu_.device(), gpu_.pool(), 1, &commands);
    if (to)
      std::memcpy(reinterpret_cast<char *>(to) + at, mapped, bytes);
  }
}

} // namespace gantry::bench

// Implements Gpu, the helpers for render passes, and HostBuffer.
#include "profiler_gui/platform/gpu.h"

#include "engine/base/pin_modules.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gantry::profiler {
namespace {

VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                         VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data,
                                         void *count) {
  std::fprintf(stderr, "validation: %s\n", data->pMessage);
  ++*static_cast<int *>(count);
  return VK_FALSE;
}

bool validationWanted() {
  const char *value = std::getenv("GANTRY_VALIDATION");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

bool hasValidationLayer() {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::any_of(layers.begin(), layers.end(), [](const VkLayerProperties &layer) {
    return std::strcmp(layer.layerName, "VK_LAYER_KHRONOS_validation") == 0;
  });
}

bool hasSwapchains(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  return std::any_of(
      extensions.begin(), extensions.end(), [](const VkExtensionProperties &extension) {
        return std::strcmp(extension.extensionName, VK_KHR_SWAPCHAIN_EXTENSION_NAME) == 0;
      });
}

/// Returns the first queue family with graphics support, or UINT32_MAX.
uint32_t graphicsFamily(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0)
      return i;
  }
  return UINT32_MAX;
}

} // namespace

Status checkVk(VkResult result, const char *call) {
  if (result == VK_SUCCESS)
    return Status::ok();
  return statusf(StatusCode::kInternal, "%s returned %d", call, static_cast<int>(result));
}

Result<std::unique_ptr<Gpu>> Gpu::create(const std::vector<const char *> &instanceExtensions) {
  const LoadedModules before;
  std::unique_ptr<Gpu> gpu(new Gpu());
  GANTRY_RETURN_IF_ERROR(gpu->createInstance(instanceExtensions));
  GANTRY_RETURN_IF_ERROR(gpu->createDevice(!instanceExtensions.empty()));
  before.pinNewer(); // The driver and the layers stay loaded until the process exits.
  return gpu;
}

Status createColourPass(VkDevice device, VkFormat format, VkImageLayout finalLayout,
                        const VkSubpassDependency &dependency, VkRenderPass *pass) {
  VkAttachmentDescription target{};
  target.format = format;
  target.samples = VK_SAMPLE_COUNT_1_BIT;
  target.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  target.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  target.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  target.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  target.finalLayout = finalLayout;
  const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  VkSubpassDescription subpass{};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &reference;
  auto info = vkInfo<VkRenderPassCreateInfo>(VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO);
  info.attachmentCount = 1;
  info.pAttachments = &target;
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  info.dependencyCount = 1;
  info.pDependencies = &dependency;
  return checkVk(vkCreateRenderPass(device, &info, nullptr, pass), "vkCreateRenderPass");
}

Status beginColourPass(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target,
                       VkExtent2D extent, uint32_t clearColour) {
  auto begin = vkInfo<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  GANTRY_RETURN_IF_ERROR(checkVk(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer"));
  VkClearValue clear{};
  for (int channel = 0; channel < 4; ++channel)
    clear.color.float32[channel] =
        static_cast<float>((clearColour >> (8 * channel)) & 255) / 255.0f;
  auto info = vkInfo<VkRenderPassBeginInfo>(VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO);
  info.renderPass = pass;
  info.framebuffer = target;
  info.renderArea.extent = extent;
  info.clearValueCount = 1;
  info.pClearValues = &clear;
  vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
  return Status::ok();
}

Status Gpu::createInstance(const std::vector<const char *> &extensions) {
  std::vector<const char *> names = extensions;
  std::vector<const char *> layers;
  if (validationWanted()) {
    if (!hasValidationLayer())
      return {StatusCode::kUnsupported,
              "GANTRY_VALIDATION=1 needs VK_LAYER_KHRONOS_validation, which is not installed "
              "(Debian: vulkan-validationlayers)"};
    layers.push_back("VK_LAYER_KHRONOS_validation");
    names.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  }
  auto application = vkInfo<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "gantry-profiler";
  application.apiVersion = VK_API_VERSION_1_1;
  auto info = vkInfo<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  info.enabledLayerCount = static_cast<uint32_t>(layers.size());
  info.ppEnabledLayerNames = layers.data();
  info.enabledExtensionCount = static_cast<uint32_t>(names.size());
  info.ppEnabledExtensionNames = names.data();
  GANTRY_RETURN_IF_ERROR(checkVk(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance"));
  if (layers.empty())
    return Status::ok();
  const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      vkGetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
  auto messenger = vkInfo<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pfnUserCallback = onMessage;
  messenger.pUserData = &messages_;
  return checkVk(create(instance_, &messenger, nullptr, &messenger_),
                 "vkCreateDebugUtilsMessengerEXT");
}

Status Gpu::createDevice(bool swapchain) {
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance_, &count, devices.data());
  for (VkPhysicalDevice device : devices) {
    const uint32_t family = graphicsFamily(device);
    if (family == UINT32_MAX || (swapchain && !hasSwapchains(device)))
      continue;
    physical_ = device;
    queueFamily_ = family;
    break;
  }
  if (physical_ == VK_NULL_HANDLE)
    return statusf(StatusCode::kUnsupported,
                   "none of the %u Vulkan devices has a graphics queue%s; a software device "
                   "(Debian: mesa-vulkan-drivers) is sufficient",
                   count, swapchain ? " and swapchain support" : "");
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical_, &properties);
  name_ = properties.deviceName;
  maxStorageBytes_ = properties.limits.maxStorageBufferRange;

  const float priority = 1.0f;
  auto queue = vkInfo<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = queueFamily_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const char *extension = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
  auto info = vkInfo<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = swapchain ? 1 : 0;
  info.ppEnabledExtensionNames = &extension;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice"));
  vkGetDeviceQueue(device_, queueFamily_, 0, &queue_);
  return Status::ok();
}

Gpu::~Gpu() {
  if (device_ != VK_NULL_HANDLE) {
    vkDeviceWaitIdle(device_);
    vkDestroyDevice(device_, nullptr);
  }
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance_, messenger_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE)
    vkDestroyInstance(instance_, nullptr);
}

Result<uint32_t> Gpu::memoryType(uint32_t bits, VkMemoryPropertyFlags properties) const {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    if ((bits & (1u << i)) != 0 && (memory.memoryTypes[i].propertyFlags & properties) == properties)
      return i;
  }
  return statusf(StatusCode::kUnsupported, "%s has no memory type with properties 0x%x",
                 name_.c_str(), properties);
}

Status HostBuffer::reserve(const Gpu &gpu, VkBufferUsageFlags usage, VkDeviceSize sizeBytes) {
  if (sizeBytes <= sizeBytes_ && buffer_ != VK_NULL_HANDLE)
    return Status::ok();
  const VkDeviceSize maxBytes =
      (usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT) != 0 ? gpu.maxStorageBytes() : UINT64_MAX;
  if (sizeBytes > maxBytes)
    return statusf(
        StatusCode::kUnsupported,
        "a picture of this size needs a storage buffer of %llu bytes, but %s allows at most "
        "%llu; reduce the picture's size",
        static_cast<unsigned long long>(sizeBytes), gpu.name().c_str(),
        static_cast<unsigned long long>(maxBytes));
  destroy();
  device_ = gpu.device();
  auto info = vkInfo<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = std::min(std::max<VkDeviceSize>(sizeBytes + sizeBytes / 2, 65536), maxBytes);
  info.usage = usage;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateBuffer(device_, &info, nullptr, &buffer_), "vkCreateBuffer"));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, buffer_, &needs);
  GANTRY_ASSIGN_OR_RETURN(
      const uint32_t type,
      gpu.memoryType(needs.memoryTypeBits,
                     VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT));
  auto allocate = vkInfo<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = type;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkAllocateMemory(device_, &allocate, nullptr, &memory_), "vkAllocateMemory"));
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkBindBufferMemory(device_, buffer_, memory_, 0), "vkBindBufferMemory"));
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &data_), "vkMapMemory"));
  sizeBytes_ = info.size;
  return Status::ok();
}

void HostBuffer::destroy() {
  if (buffer_ != VK_NULL_HANDLE)
    vkDestroyBuffer(device_, buffer_, nullptr);
  if (memory_ != VK_NULL_HANDLE)
    vkFreeMemory(device_, memory_, nullptr);
  buffer_ = VK_NULL_HANDLE;
  memory_ = VK_NULL_HANDLE;
  data_ = nullptr;
  sizeBytes_ = 0;
}

} // namespace gantry::profiler

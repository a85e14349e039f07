// The Vulkan device that draws the profiler: an instance, one device, one queue.
//
// It is not the runtime's device: the profiler looks at another process, and shares nothing with
// the backends. Any Vulkan 1.0 device that can draw will do, the software one included.
//
// GANTRY_VALIDATION=1 switches the validation layer on; its messages go to stderr and are counted.
// Errors: kUnsupported where no device can draw or show, with what was looked for; kInternal with
// the call's name and result where the driver fails. Threads: none of its own.
#pragma once

#include "engine/base/status.h"

#include <vulkan/vulkan.h>

#include <memory>
#include <string>
#include <vector>

namespace gantry::profiler {

class Gpu {
public:
  /// instanceExtensions: what the window system asks for; with any, the device gets swapchains.
  static Result<std::unique_ptr<Gpu>> create(const std::vector<const char *> &instanceExtensions);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  VkInstance instance() const { return instance_; }
  VkPhysicalDevice physical() const { return physical_; }
  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  uint32_t queueFamily() const { return queueFamily_; }
  const std::string &name() const { return name_; }
  /// The most bytes of a storage buffer that shaders see.
  VkDeviceSize maxStorageBytes() const { return maxStorageBytes_; }
  /// How often the validation layer spoke up.
  int validationMessages() const { return messages_; }

  /// A type of memory with these properties among those of `bits`.
  Result<uint32_t> memoryType(uint32_t bits, VkMemoryPropertyFlags properties) const;

private:
  Gpu() = default;
  Status createInstance(const std::vector<const char *> &extensions);
  Status createDevice(bool swapchain);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t queueFamily_ = 0;
  std::string name_;
  VkDeviceSize maxStorageBytes_ = 0;
  int messages_ = 0;
};

/// A zeroed structure of Vulkan's with its type set.
template <typename T> T vkInfo(VkStructureType type) {
  T info{};
  info.sType = type;
  return info;
}

/// kInternal with the call's name and result, or ok.
Status checkVk(VkResult result, const char *call);

/// A pass that clears one colour target, draws into it, and leaves it in `finalLayout`; owned by
/// the caller. `dependency`: what its one subpass waits for, or what waits for it.
Status createColourPass(VkDevice device, VkFormat format, VkImageLayout finalLayout,
                        const VkSubpassDependency &dependency, VkRenderPass *pass);

/// Begins the recording of commands, and in it such a pass over all of a target of `extent` pixels.
/// clearColour: 8 bits a channel, red lowest. The caller ends both.
Status beginColourPass(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target,
                       VkExtent2D extent, uint32_t clearColour);

/// A buffer that the host writes or reads, mapped for its whole life.
class HostBuffer {
public:
  HostBuffer() = default;
  ~HostBuffer() { destroy(); }
  HostBuffer(const HostBuffer &) = delete;
  HostBuffer &operator=(const HostBuffer &) = delete;

  /// Makes sure of `sizeBytes`; what it held is lost where it grows. Not while the device uses it.
  Status reserve(const Gpu &gpu, VkBufferUsageFlags usage, VkDeviceSize sizeBytes);
  VkBuffer buffer() const { return buffer_; }
  void *data() const { return data_; }
  VkDeviceSize sizeBytes() const { return sizeBytes_; }
  void destroy();

private:
  VkDevice device_ = VK_NULL_HANDLE;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void *data_ = nullptr;
  VkDeviceSize sizeBytes_ = 0;
};

} // namespace gantry::profiler

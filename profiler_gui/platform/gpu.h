// The Vulkan device that draws the profiler's window: an instance, one device, one queue, and
// helpers for render passes and host-visible buffers.
//
// This is not the runtime's device. The profiler shows another process and shares no code with the
// runtime's backends, which run programs on devices. Any Vulkan 1.0 device with a graphics queue is
// sufficient, including software devices.
//
// GANTRY_VALIDATION=1 enables the validation layer; its messages are written to stderr and counted.
// Errors: kUnsupported if no device is suitable or the validation layer is missing; kInternal with
// the failed Vulkan call and its result. Threads: one at a time.
#pragma once

#include "engine/base/status.h"

#include <vulkan/vulkan.h>

#include <memory>
#include <string>
#include <vector>

namespace gantry::profiler {

class Gpu {
public:
  /// Creates the instance and a logical device on the first suitable physical device.
  /// instanceExtensions are those that the window system needs. If there are any, the device must
  /// also support swapchains.
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
  /// The max number of bytes of a storage buffer that a shader can access.
  VkDeviceSize maxStorageBytes() const { return maxStorageBytes_; }
  /// The number of messages from the validation layer.
  int validationMessages() const { return messages_; }

  /// Returns the first memory type in the mask `bits` with these properties; kUnsupported if there
  /// is none.
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

/// A zeroed Vulkan structure with its type set.
template <typename T> T vkInfo(VkStructureType type) {
  T info{};
  info.sType = type;
  return info;
}

/// Ok for VK_SUCCESS, else kInternal with the call's name and result.
Status checkVk(VkResult result, const char *call);

/// Creates a render pass that clears one colour target, draws into it, and leaves it in
/// finalLayout. `dependency` is the external dependency of its only subpass. The caller owns *pass.
Status createColourPass(VkDevice device, VkFormat format, VkImageLayout finalLayout,
                        const VkSubpassDependency &dependency, VkRenderPass *pass);

/// Begins recording `commands`, and begins a pass of createColourPass() over a target of `extent`
/// pixels. clearColour has 8 bits per channel, red in the low byte. The caller ends the pass and
/// the recording.
Status beginColourPass(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target,
                       VkExtent2D extent, uint32_t clearColour);

/// A Vulkan buffer in host-visible, coherent memory that stays mapped.
class HostBuffer {
public:
  HostBuffer() = default;
  ~HostBuffer() { destroy(); }
  HostBuffer(const HostBuffer &) = delete;
  HostBuffer &operator=(const HostBuffer &) = delete;

  /// Makes the buffer at least sizeBytes large. If it must grow, its contents are lost. The device
  /// must not be using the buffer. `gpu` must outlive the buffer.
  Status reserve(const Gpu &gpu, VkBufferUsageFlags usage, VkDeviceSize sizeBytes);
  VkBuffer buffer() const { return buffer_; }
  void *data() const { return data_; }
  VkDeviceSize sizeBytes() const { return sizeBytes_; }
  /// Frees the buffer; reserve() may follow.
  void destroy();

private:
  VkDevice device_ = VK_NULL_HANDLE;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void *data_ = nullptr;
  VkDeviceSize sizeBytes_ = 0;
};

} // namespace gantry::profiler

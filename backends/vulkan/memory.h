// Device memory: one VkBuffer over one VkDeviceMemory of its own, mapped for its life where the
// host may see it. All memory that is mapped is coherent.
#pragma once

#include "backends/vulkan/vulkan_device.h"

namespace gantry::vulkan {

class VulkanMemory final : public device::Memory {
public:
  static Result<std::unique_ptr<VulkanMemory>> create(std::shared_ptr<VulkanDevice> device,
                                                      device::MemoryKind kind, uint64_t sizeBytes);
  ~VulkanMemory() override;
  VkBuffer buffer() const { return buffer_; }

private:
  VulkanMemory(std::shared_ptr<VulkanDevice> device, device::MemoryKind kind, uint64_t sizeBytes)
      : Memory(kind, sizeBytes), device_(std::move(device)) {}
  Status allocate();

  std::shared_ptr<VulkanDevice> device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

} // namespace gantry::vulkan

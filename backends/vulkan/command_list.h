// A command list: one primary command buffer with its own command pool, descriptor pool and query
// pool. begin() creates the pools; its argument says how many sets and queries they hold, and a
// pool that would hold none is left out.
//
// Each descriptor set is written once, when its dispatch is recorded. Texel buffer views are
// created at the same time, one for each distinct range and format, and exist as long as the list.
//
// Thread safety and errors: those of device::CommandList (engine/device/command_list.h).
#pragma once

#include "backends/vulkan/vulkan_device.h"

namespace gantry::vulkan {

/// A command list of the Vulkan backend. It keeps its device alive.
class VulkanCommandList final : public device::CommandList {
public:
  explicit VulkanCommandList(std::shared_ptr<VulkanDevice> device)
      : CommandList(*device), device_(std::move(device)) {}
  ~VulkanCommandList() override;
  VkCommandBuffer handle() const { return commands_; }

private:
  Status doBegin(const device::CommandListCapacity &capacity) override;
  Status doDispatch(const device::Dispatch &dispatch) override;
  Status doCopy(const device::BufferRange &source, device::Memory &target,
                uint64_t targetOffset) override;
  Status doFill(const device::BufferRange &range, uint32_t word) override;
  Status doUpdate(const device::BufferRange &range, std::span<const uint8_t> bytes) override;
  Status doBarrier() override;
  Status doTimestamp(uint32_t index) override;
  Status doEnd() override;
  Result<std::vector<uint64_t>> doTimestampsNs(uint32_t count) override;
  Status bindDescriptors(const device::Dispatch &dispatch);
  Result<VkBufferView> viewOf(const device::BufferRange &range, device::TexelFormat format);

  std::shared_ptr<VulkanDevice> device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  VkPipeline bound_ = VK_NULL_HANDLE; // The pipeline that was bound last.
  /// The key of a texel buffer view in views_.
  struct View {
    VkBuffer buffer;
    uint64_t offsetBytes;
    uint64_t texels;
    device::TexelFormat format;
    bool operator<(const View &other) const {
      return std::tie(buffer, offsetBytes, texels, format) <
             std::tie(other.buffer, other.offsetBytes, other.texels, other.format);
    }
  };
  std::map<View, VkBufferView> views_;
};

} // namespace gantry::vulkan

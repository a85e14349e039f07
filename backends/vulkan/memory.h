// Device memory: one VkBuffer over one VkDeviceMemory of its own, mapped for its life where the
// host may see it (all memory that is mapped is coherent); or over memory that is imported; or a
// sparse VkBuffer, to which storage is bound piece by piece (memory_range.cpp).
//
// All of it takes host memory without exceptions: new (std::nothrow), and no text on the way to
// success. Threads: as device.h says.
#pragma once

#include "backends/vulkan/vulkan_device.h"
#include "engine/trace/import_trace.h"

#include <memory>

namespace gantry::vulkan {

/// By how much a view of texels may go beyond its buffer on the software device.
inline constexpr uint64_t kViewSlackBytes = 256;

class VulkanMemory final : public device::Memory {
public:
  using Made = Result<std::unique_ptr<device::Memory>>;
  static Made allocate(std::shared_ptr<VulkanDevice> device, device::MemoryKind kind,
                       uint64_t sizeBytes, const device::AllocateOptions &options);
  static Made import(std::shared_ptr<VulkanDevice> device, const device::ImportSource &source);
  static Made reserve(std::shared_ptr<VulkanDevice> device, uint64_t rangeBytes);
  ~VulkanMemory() override;

  VkBuffer buffer() const { return buffer_; }
  /// Of the Vulkan buffer: a little more than sizeBytes() on the software device.
  uint64_t bufferBytes() const { return bufferBytes_; }
  Result<int> exportFd();
  /// Of a range: one VkDeviceMemory, bound to [offset, +size); its handle is the token.
  Result<uint64_t> commit(uint64_t offset, uint64_t size);
  Status decommit(uint64_t offset, uint64_t size);
  void release(uint64_t token);

private:
  VulkanMemory(std::shared_ptr<VulkanDevice> device, device::MemoryKind kind, uint64_t sizeBytes)
      : Memory(kind, sizeBytes), device_(std::move(device)) {}
  static Result<std::unique_ptr<VulkanMemory>> make(std::shared_ptr<VulkanDevice> device,
                                                    device::MemoryKind kind, uint64_t sizeBytes);
  Status createBuffer(VkBufferCreateFlags flags, VkExternalMemoryHandleTypeFlags handleTypes,
                      VkMemoryRequirements *requirements);
  /// Tries the types in their order; a heap that is full is not asked again.
  Status allocateFrom(std::span<const uint8_t> types, uint32_t typeBits, uint64_t sizeBytes,
                      const void *chain, VkDeviceMemory *memory);
  Status bindAndMap();
  void readAddress();

  std::shared_ptr<VulkanDevice> device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  uint64_t bufferBytes_ = 0;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;     // none of a range's own
  uint64_t countedBytes_ = 0;                  // in the device's count of what is allocated
  std::unique_ptr<trace::ImportTrace> import_; // of memory that another owner allocated
};

} // namespace gantry::vulkan

// Device memory of the Vulkan backend, in three forms: a VkBuffer with a VkDeviceMemory of its own;
// a VkBuffer over imported memory; or a range, a sparse VkBuffer to which memory is bound piece by
// piece (memory_range.cpp).
//
// Memory that the host can access is mapped for its whole life and is always coherent. No function
// here throws when host memory is exhausted: objects are allocated with new (std::nothrow), and no
// text is built on the successful path.
//
// Thread safety: that of device::Memory (engine/device/device.h).
#pragma once

#include "backends/vulkan/vulkan_device.h"
#include "engine/trace/record/import_trace.h"

#include <memory>

namespace gantry::vulkan {

/// Bytes by which a view of texels may exceed its buffer range on the software device.
inline constexpr uint64_t kViewSlackBytes = 256;

class VulkanMemory final : public device::Memory {
public:
  using Made = Result<std::unique_ptr<device::Memory>>;
  /// The three forms, as Device::allocate(), importMemory() and reserve() describe them.
  static Made allocate(std::shared_ptr<VulkanDevice> device, device::MemoryKind kind,
                       uint64_t sizeBytes, const device::AllocateOptions &options);
  static Made import(std::shared_ptr<VulkanDevice> device, const device::ImportSource &source);
  static Made reserve(std::shared_ptr<VulkanDevice> device, uint64_t rangeBytes);
  ~VulkanMemory() override;

  VkBuffer buffer() const { return buffer_; }
  /// Size of the VkBuffer; on the software device slightly more than sizeBytes().
  uint64_t bufferBytes() const { return bufferBytes_; }
  /// Returns a new file descriptor of the memory, which the caller owns.
  Result<int> exportFd();
  /// For a range: commit() binds new memory to [offset, offset + size) and returns a token for it;
  /// decommit() unbinds that part; release() frees the memory of a token.
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
  /// Allocates from the first memory type in `types` that is in `typeBits` and has space. Skips
  /// further types of a heap that was full.
  Status allocateFrom(std::span<const uint8_t> types, uint32_t typeBits, uint64_t sizeBytes,
                      const void *chain, VkDeviceMemory *memory);
  Status bindAndMap();
  void readAddress();

  std::shared_ptr<VulkanDevice> device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  uint64_t bufferBytes_ = 0;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;     // Null for a range.
  uint64_t countedBytes_ = 0;                  // Bytes reported to the device's counters.
  std::unique_ptr<trace::ImportTrace> import_; // Set for imported memory.
};

} // namespace gantry::vulkan

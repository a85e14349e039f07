// Device memory of the Vulkan backend. A VulkanMemory has one of three forms: a VkBuffer with a
// VkDeviceMemory of its own; a VkBuffer with imported memory; or a range, which is a sparse
// VkBuffer whose parts get memory by commits (memory_range.cpp).
//
// Memory that the host can access is mapped as long as it exists and is always coherent. No
// function here throws when host memory is exhausted: objects are allocated with new
// (std::nothrow), and no text is built unless a call fails.
//
// Thread safety: that of device::Memory (engine/device/device.h).
#pragma once

#include "backends/vulkan/vulkan_device.h"
#include "engine/trace/record/import_trace.h"

#include <memory>

namespace gantry::vulkan {

/// Number of bytes by which a texel buffer view may be larger than its buffer range, on the
/// software device; VulkanMemory::createBuffer() in memory.cpp gives the reason.
inline constexpr uint64_t kViewSlackBytes = 256;

class VulkanMemory final : public device::Memory {
public:
  using Made = Result<std::unique_ptr<device::Memory>>;
  /// These functions make the three forms; device::Device describes its functions allocate(),
  /// importMemory() and reserve(), which call them.
  static Made allocate(std::shared_ptr<VulkanDevice> device, device::MemoryKind kind,
                       uint64_t sizeBytes, const device::AllocateOptions &options);
  static Made import(std::shared_ptr<VulkanDevice> device, const device::ImportSource &source);
  static Made reserve(std::shared_ptr<VulkanDevice> device, uint64_t rangeBytes);
  ~VulkanMemory() override;

  VkBuffer buffer() const { return buffer_; }
  /// Returns the size of the VkBuffer, which may exceed sizeBytes() on the software device.
  uint64_t bufferBytes() const { return bufferBytes_; }
  /// Returns a new file descriptor of the memory. The caller owns the descriptor.
  Result<int> exportFd();
  /// The following functions are for ranges. commit() binds new memory to [offset, offset + size)
  /// and returns a token for this memory; decommit() unbinds the memory of that part; release()
  /// frees the memory of a token.
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
  /// Allocates from the first memory type in `types` that is in `typeBits` and whose heap has
  /// space. If one type's heap is full, the other types of that heap are not tried.
  Status allocateFrom(std::span<const uint8_t> types, uint32_t typeBits, uint64_t sizeBytes,
                      const void *chain, VkDeviceMemory *memory);
  Status bindAndMap();
  void readAddress();

  std::shared_ptr<VulkanDevice> device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  uint64_t bufferBytes_ = 0;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;     // Null for a range.
  uint64_t countedBytes_ = 0;                  // Bytes passed to VulkanDevice::countAllocated().
  std::unique_ptr<trace::ImportTrace> import_; // Set for imported memory.
};

} // namespace gantry::vulkan

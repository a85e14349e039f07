// Implements ranges as sparse VkBuffers with residency. Such a buffer may be used while parts of it
// have no memory (Vulkan 1.3 specification, chapter "Sparse Resources", sparseResidencyBuffer).
#include "backends/vulkan/memory.h"

#include <cinttypes>
#include <new>

namespace gantry::vulkan {

namespace {

/// The memory of one commit. The address of the Block is the commit's token.
struct Block {
  VkDeviceMemory memory;
  uint64_t sizeBytes;
};

Block *blockOf(uint64_t token) { return reinterpret_cast<Block *>(token); }

} // namespace

VulkanMemory::Made VulkanMemory::reserve(std::shared_ptr<VulkanDevice> device,
                                         uint64_t rangeBytes) {
  GANTRY_ASSIGN_OR_RETURN(auto memory,
                          make(std::move(device), device::MemoryKind::kDevice, rangeBytes));
  VkMemoryRequirements requirements;
  GANTRY_RETURN_IF_ERROR(memory->createBuffer(VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                                                  VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
                                              0, &requirements));
  const device::DeviceInfo &info = memory->device_->info();
  for (uint32_t type : info.memoryKinds.of(device::MemoryKind::kDevice).span())
    if (requirements.memoryTypeBits >> type & 1) {
      memory->isRange_ = true;
      memory->memoryType_ = type;
      memory->heap_ = info.memoryTypes[type].heap;
      memory->readAddress();
      return std::unique_ptr<device::Memory>(std::move(memory));
    }
  return statusf(StatusCode::kUnsupported, "device '%s' has no memory type for sparse buffers",
                 info.name.c_str());
}

Result<uint64_t> VulkanMemory::commit(uint64_t offset, uint64_t size) {
  std::unique_ptr<Block> block(new (std::nothrow) Block{VK_NULL_HANDLE, size});
  if (!block)
    return VulkanDevice::noHostMemory();
  const uint8_t type = static_cast<uint8_t>(memoryType_);
  GANTRY_RETURN_IF_ERROR(allocateFrom({&type, 1}, 1u << type, size, nullptr, &block->memory));
  const Status bound = device_->bindSparse(buffer_, offset, size, block->memory);
  if (!bound.isOk()) {
    device_->table().vkFreeMemory(device_->handle(), block->memory, nullptr);
    return bound;
  }
  device_->countAllocated(heap_, size);
  return reinterpret_cast<uint64_t>(block.release());
}

Status VulkanMemory::decommit(uint64_t offset, uint64_t size) {
  return device_->bindSparse(buffer_, offset, size, VK_NULL_HANDLE);
}

void VulkanMemory::release(uint64_t token) {
  const std::unique_ptr<Block> block(blockOf(token));
  device_->table().vkFreeMemory(device_->handle(), block->memory, nullptr);
  device_->countFreed(heap_, block->sizeBytes);
}

} // namespace gantry::vulkan

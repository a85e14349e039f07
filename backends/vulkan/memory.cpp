#include "backends/vulkan/memory.h"

namespace gantry::vulkan {

Result<std::unique_ptr<VulkanMemory>> VulkanMemory::create(std::shared_ptr<VulkanDevice> device,
                                                           device::MemoryKind kind,
                                                           uint64_t sizeBytes) {
  std::unique_ptr<VulkanMemory> memory(new VulkanMemory(std::move(device), kind, sizeBytes));
  GANTRY_RETURN_IF_ERROR(memory->allocate());
  return memory;
}

Status VulkanMemory::allocate() {
  const VolkDeviceTable &vk = device_->table();
  const VkDevice device = device_->handle();
  const bool addresses = device_->profile().features.bufferDeviceAddress;
  auto create = zeroed<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  create.size = sizeBytes_;
  create.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (addresses)
    create.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  create.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  const std::string size = std::to_string(sizeBytes_) + " bytes";
  GANTRY_VK(vk.vkCreateBuffer(device, &create, nullptr, &buffer_), "vkCreateBuffer(" + size + ")");

  VkMemoryRequirements requirements;
  vk.vkGetBufferMemoryRequirements(device, buffer_, &requirements);
  const std::optional<uint32_t> type =
      chooseMemoryType(device_->snapshot().memory, kind_, requirements.memoryTypeBits);
  if (!type)
    return statusf(StatusCode::kUnsupported, "device '%s' has no memory of the kind '%s'",
                   device_->info().name.c_str(), device::memoryKindName(kind_));
  auto flags = zeroed<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = zeroed<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = addresses ? &flags : nullptr;
  allocate.allocationSize = requirements.size;
  allocate.memoryTypeIndex = *type;
  GANTRY_VK(vk.vkAllocateMemory(device, &allocate, nullptr, &memory_),
            "vkAllocateMemory(" + size + " of " + device::memoryKindName(kind_) + " memory)");
  GANTRY_VK(vk.vkBindBufferMemory(device, buffer_, memory_, 0), "vkBindBufferMemory");
  if (kind_ != device::MemoryKind::kDevice) {
    void *data = nullptr;
    GANTRY_VK(vk.vkMapMemory(device, memory_, 0, VK_WHOLE_SIZE, 0, &data),
              "vkMapMemory(" + size + ")");
    mapped_ = static_cast<uint8_t *>(data);
  }
  if (addresses) {
    auto info = zeroed<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
    info.buffer = buffer_;
    address_ = vk.vkGetBufferDeviceAddress(device, &info);
  }
  return {};
}

VulkanMemory::~VulkanMemory() {
  device_->table().vkDestroyBuffer(device_->handle(), buffer_, nullptr);
  device_->table().vkFreeMemory(device_->handle(), memory_, nullptr);
}

} // namespace gantry::vulkan

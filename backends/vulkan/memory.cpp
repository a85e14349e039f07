// Allocates, imports and exports memory.
#include "backends/vulkan/memory.h"

#include <bit>
#include <cinttypes>
#include <new>

namespace gantry::vulkan {

Result<std::unique_ptr<VulkanMemory>> VulkanMemory::make(std::shared_ptr<VulkanDevice> device,
                                                         device::MemoryKind kind,
                                                         uint64_t sizeBytes) {
  std::unique_ptr<VulkanMemory> memory(new (std::nothrow)
                                           VulkanMemory(std::move(device), kind, sizeBytes));
  if (!memory)
    return VulkanDevice::noHostMemory();
  return memory;
}

Status VulkanMemory::createBuffer(VkBufferCreateFlags flags,
                                  VkExternalMemoryHandleTypeFlags handleTypes,
                                  VkMemoryRequirements *requirements) {
  auto external = zeroed<VkExternalMemoryBufferCreateInfo>(
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
  external.handleTypes = handleTypes;
  auto create = zeroed<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  create.pNext = handleTypes ? &external : nullptr;
  create.flags = flags;
  create.size = sizeBytes_;
  // If a kernel reads texels, Mesa 22.3's software device compiles it anew for each combination of
  // two properties of its texel buffers: whether the size of the buffer is a power of two, and
  // whether bits 8 to 15 of the size of the view are zero (it takes these bits for the number of
  // mip levels). To leave only one combination, no buffer on this device has a size that is a power
  // of two, and each buffer has additional bytes, so that viewOf() (command_list.cpp) can make a
  // view longer whose size has zeros in bits 8 to 15. Only sparse, imported and exportable buffers
  // keep the size that the caller asked for.
  if (device_->profile().preferTexelLoads && handleTypes == 0 && flags == 0) {
    create.size += kViewSlackBytes;
    if (std::has_single_bit(create.size))
      create.size += kViewSlackBytes;
  }
  bufferBytes_ = create.size;
  create.usage = device_->bufferUsage();
  create.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  const VolkDeviceTable &vk = device_->table();
  const VkResult result = vk.vkCreateBuffer(device_->handle(), &create, nullptr, &buffer_);
  if (result < 0)
    return callFailedf(result, "vkCreateBuffer(%" PRIu64 " bytes)", sizeBytes_);
  vk.vkGetBufferMemoryRequirements(device_->handle(), buffer_, requirements);
  return {};
}

Status VulkanMemory::allocateFrom(std::span<const uint8_t> types, uint32_t typeBits,
                                  uint64_t sizeBytes, const void *chain, VkDeviceMemory *memory) {
  auto flags = zeroed<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.pNext = chain;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = zeroed<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = device_->profile().features.bufferDeviceAddress ? &flags : chain;
  allocate.allocationSize = sizeBytes;
  const std::vector<device::MemoryTypeInfo> &infos = device_->info().memoryTypes;
  uint32_t fullHeaps = 0;
  VkResult result = VK_SUCCESS;
  for (uint32_t type : types) {
    const uint32_t heap = infos[type].heap;
    if (!(typeBits >> type & 1) || (fullHeaps >> heap & 1))
      continue;
    allocate.memoryTypeIndex = type;
    result = device_->table().vkAllocateMemory(device_->handle(), &allocate, nullptr, memory);
    if (result >= 0) {
      memoryType_ = type;
      heap_ = heap;
      return {};
    }
    if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY)
      break;
    fullHeaps |= 1u << heap;
  }
  if (result < 0)
    return callFailedf(result, "vkAllocateMemory(%" PRIu64 " bytes of %s memory)", sizeBytes,
                       device::memoryKindName(kind_));
  return statusf(StatusCode::kUnsupported, "device '%s' has no memory of the kind '%s'",
                 device_->info().name.c_str(), device::memoryKindName(kind_));
}

void VulkanMemory::readAddress() {
  if (!device_->profile().features.bufferDeviceAddress)
    return;
  auto info = zeroed<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  info.buffer = buffer_;
  address_ = device_->table().vkGetBufferDeviceAddress(device_->handle(), &info);
}

Status VulkanMemory::bindAndMap() {
  const VolkDeviceTable &vk = device_->table();
  const VkDevice device = device_->handle();
  GANTRY_VK(vk.vkBindBufferMemory(device, buffer_, memory_, 0), "vkBindBufferMemory");
  if (kind_ != device::MemoryKind::kDevice && !mapped_) {
    void *data = nullptr;
    const VkResult result = vk.vkMapMemory(device, memory_, 0, VK_WHOLE_SIZE, 0, &data);
    if (result < 0)
      return callFailedf(result, "vkMapMemory(%" PRIu64 " bytes)", sizeBytes_);
    mapped_ = static_cast<uint8_t *>(data);
  }
  readAddress();
  return {};
}

VulkanMemory::Made VulkanMemory::allocate(std::shared_ptr<VulkanDevice> device,
                                          device::MemoryKind kind, uint64_t sizeBytes,
                                          const device::AllocateOptions &options) {
  GANTRY_ASSIGN_OR_RETURN(auto memory, make(std::move(device), kind, sizeBytes));
  VulkanDevice &owner = *memory->device_;
  VkMemoryRequirements requirements;
  GANTRY_RETURN_IF_ERROR(memory->createBuffer(
      0, options.exportable ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT : 0, &requirements));

  const void *chain = nullptr;
  auto priority =
      zeroed<VkMemoryPriorityAllocateInfoEXT>(VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT);
  if (owner.info().memoryPriorities) {
    priority.priority = options.priority;
    chain = &priority;
  }
  auto dedicated =
      zeroed<VkMemoryDedicatedAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
  auto exported = zeroed<VkExportMemoryAllocateInfo>(VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
  if (options.dedicated || options.exportable) { // Some drivers export only dedicated memory.
    dedicated.buffer = memory->buffer_;
    dedicated.pNext = chain;
    chain = &dedicated;
  }
  if (options.exportable) {
    exported.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    exported.pNext = chain;
    chain = &exported;
  }
  GANTRY_RETURN_IF_ERROR(memory->allocateFrom(owner.info().memoryKinds.of(kind).span(),
                                              requirements.memoryTypeBits, requirements.size, chain,
                                              &memory->memory_));
  memory->countedBytes_ = requirements.size;
  owner.countAllocated(memory->heap_, memory->countedBytes_);
  GANTRY_RETURN_IF_ERROR(memory->bindAndMap());
  memory->exportable_ = options.exportable;
  if (options.name) {
    owner.setName(VK_OBJECT_TYPE_DEVICE_MEMORY, reinterpret_cast<uint64_t>(memory->memory_),
                  options.name);
    owner.setName(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(memory->buffer_), options.name);
  }
  return std::unique_ptr<device::Memory>(std::move(memory));
}

VulkanMemory::Made VulkanMemory::import(std::shared_ptr<VulkanDevice> device,
                                        const device::ImportSource &source) {
  const bool isHost = source.type == device::ImportSource::Type::kHostPointer;
  GANTRY_ASSIGN_OR_RETURN(auto memory, make(std::move(device),
                                            isHost ? device::MemoryKind::kUnified : source.kind,
                                            source.sizeBytes));
  VulkanDevice &owner = *memory->device_;
  const VkExternalMemoryHandleTypeFlagBits handleType =
      isHost ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
             : VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkMemoryRequirements requirements;
  GANTRY_RETURN_IF_ERROR(memory->createBuffer(0, handleType, &requirements));

  auto pointer = zeroed<VkImportMemoryHostPointerInfoEXT>(
      VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  auto descriptor = zeroed<VkImportMemoryFdInfoKHR>(VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
  auto dedicated =
      zeroed<VkMemoryDedicatedAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
  const void *chain = nullptr;
  uint64_t size = requirements.size;
  if (isHost) {
    auto properties = zeroed<VkMemoryHostPointerPropertiesEXT>(
        VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT);
    GANTRY_VK(owner.table().vkGetMemoryHostPointerPropertiesEXT(owner.handle(), handleType,
                                                                source.hostPointer, &properties),
              "vkGetMemoryHostPointerPropertiesEXT");
    requirements.memoryTypeBits &= properties.memoryTypeBits;
    if (size > source.sizeBytes)
      return statusf(StatusCode::kUnsupported,
                     "device '%s' needs at least %" PRIu64
                     " bytes of host memory to import a buffer of %" PRIu64 " bytes",
                     owner.info().name.c_str(), size, source.sizeBytes);
    size = source.sizeBytes;
    pointer.handleType = handleType;
    pointer.pHostPointer = source.hostPointer;
    chain = &pointer;
    memory->mapped_ = static_cast<uint8_t *>(source.hostPointer);
  } else {
    dedicated.buffer = memory->buffer_; // The exporter allocated it as dedicated memory.
    descriptor.handleType = handleType;
    descriptor.fd = source.fd;
    descriptor.pNext = &dedicated;
    chain = &descriptor;
  }
  const device::MemoryTypeList &types = owner.info().memoryKinds.of(memory->kind_);
  const uint8_t exact = static_cast<uint8_t>(source.memoryType.value_or(0));
  GANTRY_RETURN_IF_ERROR(memory->allocateFrom(
      !isHost && source.memoryType ? std::span<const uint8_t>(&exact, 1) : types.span(),
      requirements.memoryTypeBits, size, chain, &memory->memory_));
  GANTRY_RETURN_IF_ERROR(memory->bindAndMap());
  // If the host has no memory for this object, traces do not show the import, but the import itself
  // succeeds.
  memory->import_.reset(new (std::nothrow) trace::ImportTrace(
      owner.number(), memory->sizeBytes(), isHost ? owner.hostImportName() : owner.fdImportName()));
  return std::unique_ptr<device::Memory>(std::move(memory));
}

Result<int> VulkanMemory::exportFd() {
  auto get = zeroed<VkMemoryGetFdInfoKHR>(VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR);
  get.memory = memory_;
  get.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  int fd = -1;
  GANTRY_VK(device_->table().vkGetMemoryFdKHR(device_->handle(), &get, &fd), "vkGetMemoryFdKHR");
  return fd;
}

VulkanMemory::~VulkanMemory() {
  if (isRange_)
    device_->finishBindings();
  device_->table().vkDestroyBuffer(device_->handle(), buffer_, nullptr);
  commits_.clear([this](uint64_t token) { release(token); });
  if (!memory_)
    return;
  device_->table().vkFreeMemory(device_->handle(), memory_, nullptr);
  device_->countFreed(heap_, countedBytes_);
}

} // namespace gantry::vulkan

// Records commands and descriptors, and reads timestamps.
#include "backends/vulkan/command_list.h"
#include "backends/vulkan/kernel.h"
#include "backends/vulkan/memory.h"
#include "engine/base/align.h"

namespace gantry::vulkan {

namespace {

VkBuffer bufferOf(const device::Memory &memory) {
  return static_cast<const VulkanMemory &>(memory).buffer();
}

constexpr VkPipelineStageFlags kWorkStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
// VK_ACCESS_SHADER_READ_BIT covers storage buffers and texel buffers.
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

} // namespace

VulkanCommandList::~VulkanCommandList() {
  const VolkDeviceTable &vk = device_->table();
  for (const auto &[key, view] : views_)
    vk.vkDestroyBufferView(device_->handle(), view, nullptr);
  vk.vkDestroyQueryPool(device_->handle(), queries_, nullptr);
  vk.vkDestroyDescriptorPool(device_->handle(), descriptors_, nullptr);
  vk.vkDestroyCommandPool(device_->handle(), pool_, nullptr);
}

Status VulkanCommandList::doBegin(const device::CommandListCapacity &capacity) {
  const VolkDeviceTable &vk = device_->table();
  const VkDevice device = device_->handle();
  auto pool = zeroed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = device_->plan().queueFamily;
  GANTRY_VK(vk.vkCreateCommandPool(device, &pool, nullptr, &pool_), "vkCreateCommandPool");
  auto allocate =
      zeroed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = pool_;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  GANTRY_VK(vk.vkAllocateCommandBuffers(device, &allocate, &commands_), "vkAllocateCommandBuffers");
  if (capacity.storageBuffers > 0 || capacity.texelBuffers > 0) {
    std::vector<VkDescriptorPoolSize> sizes;
    if (capacity.storageBuffers > 0)
      sizes.push_back({VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, capacity.storageBuffers});
    if (capacity.texelBuffers > 0)
      sizes.push_back({VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, capacity.texelBuffers});
    auto create = zeroed<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    create.maxSets = capacity.dispatches;
    create.poolSizeCount = static_cast<uint32_t>(sizes.size());
    create.pPoolSizes = sizes.data();
    GANTRY_VK(vk.vkCreateDescriptorPool(device, &create, nullptr, &descriptors_),
              "vkCreateDescriptorPool");
  }
  auto begin = zeroed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  GANTRY_VK(vk.vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
  if (capacity.timestamps > 0) {
    auto create = zeroed<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    create.queryType = VK_QUERY_TYPE_TIMESTAMP;
    create.queryCount = capacity.timestamps;
    GANTRY_VK(vk.vkCreateQueryPool(device, &create, nullptr, &queries_), "vkCreateQueryPool");
    vk.vkCmdResetQueryPool(commands_, queries_, 0, capacity.timestamps);
  }
  return doBarrier(); // Commands of the list wait for all earlier submissions.
}

/// Returns the texel buffer view of a range in a format. The range is rounded up to whole texels.
Result<VkBufferView> VulkanCommandList::viewOf(const device::BufferRange &range,
                                               device::TexelFormat format) {
  const uint64_t texel = device::texelBytes(format);
  const uint64_t count = roundUp(range.sizeBytes, texel) / texel;
  const View key{bufferOf(*range.memory), range.offsetBytes, count, format};
  if (const auto known = views_.find(key); known != views_.end())
    return known->second;
  auto create = zeroed<VkBufferViewCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO);
  create.buffer = key.buffer;
  create.format = kTexelFormats[static_cast<size_t>(format)];
  create.offset = range.offsetBytes;
  create.range = count * texel;
  // Mesa's software device compiles a kernel again if bits 8 to 15 of the size of a view are zero
  // (VulkanMemory::createBuffer()). The view of such a size is made longer.
  constexpr uint64_t kMipBits = 0xff00;
  if (device_->profile().preferTexelLoads && (create.range & kMipBits) == 0 &&
      create.offset + create.range + kViewSlackBytes <=
          static_cast<const VulkanMemory &>(*range.memory).bufferBytes())
    create.range += kViewSlackBytes;
  VkBufferView view = VK_NULL_HANDLE;
  GANTRY_VK(device_->table().vkCreateBufferView(device_->handle(), &create, nullptr, &view),
            "vkCreateBufferView(" + std::to_string(create.range) + " bytes)");
  views_.emplace(key, view);
  return view;
}

Status VulkanCommandList::bindDescriptors(const device::Dispatch &dispatch) {
  const VolkDeviceTable &vk = device_->table();
  const auto &kernel = static_cast<const VulkanKernel &>(*dispatch.kernel);
  std::vector<VkBufferView> views;
  for (const device::TexelRead &read : kernel.texels()) {
    GANTRY_ASSIGN_OR_RETURN(const VkBufferView view,
                            viewOf(dispatch.buffers[read.buffer], read.format));
    views.push_back(view);
  }
  auto allocate =
      zeroed<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
  allocate.descriptorPool = descriptors_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &kernel.layout().set;
  VkDescriptorSet set = VK_NULL_HANDLE;
  GANTRY_VK(vk.vkAllocateDescriptorSets(device_->handle(), &allocate, &set),
            "vkAllocateDescriptorSets");
  std::vector<VkDescriptorBufferInfo> infos;
  std::vector<VkWriteDescriptorSet> writes;
  infos.reserve(dispatch.buffers.size());
  const VkBufferView *view = views.data();
  for (const VulkanDevice::Descriptor &descriptor : kernel.descriptors()) {
    auto write = zeroed<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = set;
    write.dstBinding = descriptor.binding;
    write.descriptorCount = 1;
    write.descriptorType = descriptor.type;
    if (descriptor.type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
      const device::BufferRange &range = dispatch.buffers[descriptor.binding];
      infos.push_back({bufferOf(*range.memory), range.offsetBytes, range.sizeBytes});
      write.pBufferInfo = &infos.back();
    } else {
      write.pTexelBufferView = view++;
    }
    writes.push_back(write);
  }
  vk.vkUpdateDescriptorSets(device_->handle(), static_cast<uint32_t>(writes.size()), writes.data(),
                            0, nullptr);
  vk.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout().pipeline, 0,
                             1, &set, 0, nullptr);
  return {};
}

Status VulkanCommandList::doDispatch(const device::Dispatch &dispatch) {
  const VolkDeviceTable &vk = device_->table();
  const auto &kernel = static_cast<const VulkanKernel &>(*dispatch.kernel);
  if (bound_ != kernel.pipeline()) {
    vk.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline());
    bound_ = kernel.pipeline();
  }
  std::vector<uint64_t> block;
  if (kernel.binding() == device::BindingMode::kAddress) {
    for (const device::BufferRange &range : dispatch.buffers)
      block.push_back(range.memory->address() + range.offsetBytes);
  } else if (!kernel.descriptors().empty()) {
    GANTRY_RETURN_IF_ERROR(bindDescriptors(dispatch));
  }
  block.insert(block.end(), dispatch.dims.begin(), dispatch.dims.end());
  if (!block.empty())
    vk.vkCmdPushConstants(commands_, kernel.layout().pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<uint32_t>(8 * block.size()), block.data());
  const auto &[x, y, z] = dispatch.workgroups;
  const auto &[atX, atY, atZ] = dispatch.firstWorkgroup;
  if (atX == 0 && atY == 0 && atZ == 0)
    vk.vkCmdDispatch(commands_, x, y, z);
  else
    vk.vkCmdDispatchBase(commands_, atX, atY, atZ, x, y, z);
  return {};
}

Status VulkanCommandList::doCopy(const device::BufferRange &source, device::Memory &target,
                                 uint64_t targetOffset) {
  const VkBufferCopy region{source.offsetBytes, targetOffset, source.sizeBytes};
  device_->table().vkCmdCopyBuffer(commands_, bufferOf(*source.memory), bufferOf(target), 1,
                                   &region);
  return {};
}

Status VulkanCommandList::doFill(const device::BufferRange &range, uint32_t word) {
  device_->table().vkCmdFillBuffer(commands_, bufferOf(*range.memory), range.offsetBytes,
                                   range.sizeBytes, word);
  return {};
}

Status VulkanCommandList::doUpdate(const device::BufferRange &range,
                                   std::span<const uint8_t> bytes) {
  device_->table().vkCmdUpdateBuffer(commands_, bufferOf(*range.memory), range.offsetBytes,
                                     bytes.size(), bytes.data());
  return {};
}

Status VulkanCommandList::doBarrier() {
  auto barrier = zeroed<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = kWrites;
  barrier.dstAccessMask = kReads | kWrites;
  device_->table().vkCmdPipelineBarrier(commands_, kWorkStages, kWorkStages, 0, 1, &barrier, 0,
                                        nullptr, 0, nullptr);
  return {};
}

Status VulkanCommandList::doTimestamp(uint32_t index) {
  device_->table().vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_,
                                       index);
  return {};
}

Status VulkanCommandList::doEnd() {
  const VolkDeviceTable &vk = device_->table();
  auto barrier = zeroed<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = kWrites;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vk.vkCmdPipelineBarrier(commands_, kWorkStages, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                          nullptr, 0, nullptr);
  GANTRY_VK(vk.vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  return {};
}

Result<std::vector<uint64_t>> VulkanCommandList::doTimestampsNs(uint32_t count) {
  std::vector<uint64_t> ticks(count);
  const VkResult result = device_->table().vkGetQueryPoolResults(
      device_->handle(), queries_, 0, count, 8 * count, ticks.data(), 8, VK_QUERY_RESULT_64_BIT);
  if (result == VK_NOT_READY)
    return Status(StatusCode::kFailedPrecondition,
                  "timestamps were read before the list was done; wait for its ticket first");
  if (result < 0)
    return callFailed("vkGetQueryPoolResults", result);
  const DevicePlan &plan = device_->plan();
  const uint64_t mask =
      plan.timestampBits >= 64 ? UINT64_MAX : (uint64_t{1} << plan.timestampBits) - 1;
  std::vector<uint64_t> times(count);
  // Times are measured from the first timestamp, so that they increase if the counter wraps around.
  uint64_t elapsedTicks = 0;
  const uint64_t first = ticks[0] & mask;
  const uint64_t firstNs = plan.ticksToNs(first);
  for (uint32_t i = 0; i < count; ++i) {
    elapsedTicks = ((ticks[i] & mask) - first) & mask;
    times[i] =
        firstNs + static_cast<uint64_t>(static_cast<double>(elapsedTicks) * plan.timestampPeriodNs);
  }
  return times;
}

} // namespace gantry::vulkan

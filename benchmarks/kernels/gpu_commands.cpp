// Implements the pipelines (GpuKernel) and command buffers (Commands) of gpu.h.
#include "benchmarks/kernels/vk.h"

namespace gantry::bench {

namespace {

VkDescriptorType typeOf(Access access) {
  return access == Access::kTexel ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                                  : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

} // namespace

GpuKernel::GpuKernel(Gpu &gpu, std::span<const uint32_t> spirv, std::vector<Access> bindings,
                     const std::vector<uint32_t> &constants, uint32_t pushBytes)
    : gpu_(gpu), bindings_(std::move(bindings)) {
  std::vector<VkDescriptorSetLayoutBinding> slots;
  for (Access access : bindings_)
    slots.push_back({static_cast<uint32_t>(slots.size()), typeOf(access), 1,
                     VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  auto set =
      zeroed<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
  set.bindingCount = static_cast<uint32_t>(slots.size());
  set.pBindings = slots.data();
  check(vkCreateDescriptorSetLayout(gpu.device(), &set, nullptr, &setLayout_),
        "vkCreateDescriptorSetLayout");
  auto layout = zeroed<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &setLayout_;
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes};
  layout.pushConstantRangeCount = pushBytes ? 1 : 0;
  layout.pPushConstantRanges = &push;
  check(vkCreatePipelineLayout(gpu.device(), &layout, nullptr, &layout_), "vkCreatePipelineLayout");

  auto code = zeroed<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  code.codeSize = spirv.size_bytes();
  code.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(gpu.device(), &code, nullptr, &module), "vkCreateShaderModule");

  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < constants.size(); ++i)
    entries.push_back({i, i * uint32_t{sizeof(uint32_t)}, sizeof(uint32_t)});
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(),
                                            constants.size() * sizeof(uint32_t), constants.data()};
  auto create = zeroed<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  create.layout = layout_;
  create.stage =
      zeroed<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.module = module;
  create.stage.pName = "main";
  create.stage.pSpecializationInfo = &specialization;
  auto size = zeroed<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
  size.requiredSubgroupSize = gpu.info().subgroupSize;
  if (gpu.info().fixesSubgroupSize)
    create.stage.pNext = &size;
  const VkResult made =
      vkCreateComputePipelines(gpu.device(), VK_NULL_HANDLE, 1, &create, nullptr, &pipeline_);
  vkDestroyShaderModule(gpu.device(), module, nullptr);
  check(made, "vkCreateComputePipelines");
}

GpuKernel::~GpuKernel() {
  vkDestroyPipeline(gpu_.device(), pipeline_, nullptr);
  vkDestroyPipelineLayout(gpu_.device(), layout_, nullptr);
  vkDestroyDescriptorSetLayout(gpu_.device(), setLayout_, nullptr);
}

Commands::Commands(Gpu &gpu, const std::vector<Dispatch> &dispatches, uint32_t repeats,
                   bool barriers)
    : gpu_(gpu), repeats_(repeats) {
  uint32_t slots = 0;
  std::vector<VkDescriptorSetLayout> layouts;
  for (const Dispatch &dispatch : dispatches) {
    slots += static_cast<uint32_t>(dispatch.kernel->bindings().size());
    layouts.push_back(dispatch.kernel->setLayout());
  }
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, slots},
                                        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, slots}};
  auto pool = zeroed<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  pool.maxSets = static_cast<uint32_t>(layouts.size());
  pool.poolSizeCount = 2;
  pool.pPoolSizes = sizes;
  check(vkCreateDescriptorPool(gpu.device(), &pool, nullptr, &pool_), "vkCreateDescriptorPool");
  auto allocateSets =
      zeroed<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
  allocateSets.descriptorPool = pool_;
  allocateSets.descriptorSetCount = static_cast<uint32_t>(layouts.size());
  allocateSets.pSetLayouts = layouts.data();
  std::vector<VkDescriptorSet> sets(layouts.size());
  check(vkAllocateDescriptorSets(gpu.device(), &allocateSets, sets.data()),
        "vkAllocateDescriptorSets");
  for (size_t i = 0; i < sets.size(); ++i)
    bind(dispatches[i], sets[i]);

  auto queries = zeroed<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = 2;
  check(vkCreateQueryPool(gpu.device(), &queries, nullptr, &queries_), "vkCreateQueryPool");
  auto allocate =
      zeroed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = gpu.pool();
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  check(vkAllocateCommandBuffers(gpu.device(), &allocate, &commands_), "vkAllocateCommandBuffers");
  record(dispatches, sets, barriers);
}

Commands::~Commands() {
  vkFreeCommandBuffers(gpu_.device(), gpu_.pool(), 1, &commands_);
  vkDestroyQueryPool(gpu_.device(), queries_, nullptr);
  vkDestroyDescriptorPool(gpu_.device(), pool_, nullptr);
  for (VkBufferView view : views_)
    vkDestroyBufferView(gpu_.device(), view, nullptr);
}

void Commands::bind(const Dispatch &dispatch, VkDescriptorSet set) {
  const std::vector<Access> &accesses = dispatch.kernel->bindings();
  if (dispatch.ranges.size() != accesses.size())
    throw GpuError("a kernel with " + std::to_string(accesses.size()) + " bindings was given " +
                   std::to_string(dispatch.ranges.size()) + " buffers");
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    const BufferRange &range = dispatch.ranges[i];
    const VkDescriptorBufferInfo buffer{range.buffer->handle(), range.offsetBytes, range.sizeBytes};
    auto write = zeroed<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = set;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = typeOf(accesses[i]);
    if (accesses[i] == Access::kTexel) {
      auto view = zeroed<VkBufferViewCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO);
      view.buffer = range.buffer->handle();
      view.format = VK_FORMAT_R32G32B32A32_SFLOAT;
      view.offset = range.offsetBytes;
      view.range = range.sizeBytes;
      views_.push_back(VK_NULL_HANDLE);
      check(vkCreateBufferView(gpu_.device(), &view, nullptr, &views_.back()),
            "vkCreateBufferView");
      write.pTexelBufferView = &views_.back();
    } else {
      write.pBufferInfo = &buffer;
    }
    vkUpdateDescriptorSets(gpu_.device(), 1, &write, 0, nullptr);
  }
}

void Commands::record(const std::vector<Dispatch> &dispatches,
                      const std::vector<VkDescriptorSet> &sets, bool barriers) {
  auto begin = zeroed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
  vkCmdResetQueryPool(commands_, queries_, 0, 2);
  vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 0);
  const GpuKernel *bound = nullptr;
  auto barrier = zeroed<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT;
  auto fence = [&] {
    vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                         1, &barrier, 0, nullptr, 0, nullptr);
  };
  for (uint32_t r = 0; r < repeats_; ++r)
    for (size_t i = 0; i < dispatches.size(); ++i) {
      const Dispatch &dispatch = dispatches[i];
      const GpuKernel &kernel = *dispatch.kernel;
      if (&kernel != bound)
        vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline());
      bound = &kernel;
      vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout(), 0, 1,
                              &sets[i], 0, nullptr);
      if (!dispatch.push.empty())
        vkCmdPushConstants(commands_, kernel.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<uint32_t>(dispatch.push.size() * sizeof(uint32_t)),
                           dispatch.push.data());
      vkCmdDispatch(commands_, dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]);
      if (barriers)
        fence();
    }
  if (!barriers)
    fence();
  vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 1);
  check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
}

double Commands::run() {
  const double before = cpuSeconds();
  gpu_.submitAndWait(commands_);
  if (gpu_.info().software)
    return (cpuSeconds() - before) / repeats_;
  uint64_t ticks[2] = {};
  check(vkGetQueryPoolResults(gpu_.device(), queries_, 0, 2, sizeof ticks, ticks, sizeof ticks[0],
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults");
  return static_cast<double>(ticks[1] - ticks[0]) * gpu_.info().timestampNs * 1e-9 / repeats_;
}

} // namespace gantry::bench

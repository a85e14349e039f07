// Compiles pipelines.
#include "backends/vulkan/float_controls.h"
#include "backends/vulkan/kernel.h"
#include "backends/vulkan/pipeline_cache.h"
#include "engine/base/log.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/thread.h"

#include <algorithm>
#include <atomic>
#include <thread> // hardware_concurrency()

namespace gantry::vulkan {

VulkanKernel::~VulkanKernel() {
  device_->table().vkDestroyPipeline(device_->handle(), pipeline_, nullptr);
}

std::vector<VulkanDevice::Descriptor>
VulkanKernel::descriptorsOf(const device::KernelSource &source) {
  std::vector<VulkanDevice::Descriptor> descriptors;
  if (source.binding == device::BindingMode::kAddress)
    return descriptors;
  auto read = source.texels.begin();
  for (uint32_t i = 0; i < source.bufferCount; ++i) {
    const bool texel = read != source.texels.end() && read->buffer == i;
    if (!texel || !read->alone)
      descriptors.push_back({i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER});
    if (texel)
      ++read;
  }
  for (const device::TexelRead &texel : source.texels)
    descriptors.push_back(
        {source.bufferCount + texel.buffer, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER});
  return descriptors;
}

Status VulkanKernel::compile(const device::KernelSource &source, VkPipelineCache cache) {
  const VolkDeviceTable &vk = device_->table();
  const VkDevice device = device_->handle();
  GANTRY_ASSIGN_OR_RETURN(layout_, device_->layout(descriptors_, source.pushConstantBytes()));
  const auto changed = withFloatControls(source.spirv, device_->plan().floats);
  const std::span<const uint32_t> spirv =
      changed ? std::span<const uint32_t>(*changed) : source.spirv;
  auto module = zeroed<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module.codeSize = spirv.size_bytes();
  module.pCode = spirv.data();
  VkShaderModule shader = VK_NULL_HANDLE;
  GANTRY_VK(vk.vkCreateShaderModule(device, &module, nullptr, &shader),
            "vkCreateShaderModule(kernel '" + name_ + "')");
  const std::string entryPoint(source.entryPoint);
  auto create = zeroed<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.module = shader;
  create.stage.pName = entryPoint.c_str();
  // A kernel that requests a subgroup size uses all lanes of each subgroup. Cooperative matrices in
  // modules before SPIR-V 1.6 require the flag for full subgroups as well.
  auto size = zeroed<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
  size.requiredSubgroupSize = source.subgroupSize;
  if (source.subgroupSize != 0 && device_->plan().subgroupSizes) {
    create.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    create.stage.pNext = &size;
  }
  create.layout = layout_.pipeline;
  create.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT; // Allows vkCmdDispatchBase.
  const VkResult result =
      vk.vkCreateComputePipelines(device, cache, 1, &create, nullptr, &pipeline_);
  vk.vkDestroyShaderModule(device, shader, nullptr);
  if (result < 0)
    return callFailed("vkCreateComputePipelines(kernel '" + name_ + "')", result);
  return {};
}

Result<std::vector<std::unique_ptr<device::Kernel>>>
compileKernels(const std::shared_ptr<VulkanDevice> &device,
               std::span<const device::KernelSource> sources,
               const std::optional<std::string> &cachePath) {
  PipelineCache cache(*device, cachePath);
  std::vector<std::unique_ptr<VulkanKernel>> kernels;
  for (const device::KernelSource &source : sources)
    kernels.push_back(std::make_unique<VulkanKernel>(device, source));

  std::vector<Status> statuses(sources.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < sources.size(); i = next++) {
      const HostMemoryScope scope; // Records failed allocations of this thread.
      statuses[i] = kernels[i]->compile(sources[i], cache.handle());
      if (statuses[i].isOk())
        statuses[i] = checkHostMemory();
    }
  };
  const size_t threadCount =
      std::min<size_t>(sources.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Thread> threads;
  for (size_t i = 1; i < threadCount; ++i) {
    Result<Thread> thread = Thread::start("gantry-pipeline", work);
    if (!thread.isOk()) { // The threads that could be started do all the work.
      static std::atomic<bool> said = false;
      if (!said.exchange(true))
        logf(LogLevel::kWarn, "only %zu of %zu threads compile pipelines: %s", threads.size() + 1,
             threadCount, thread.status().message().c_str());
      break;
    }
    threads.push_back(thread.take());
  }
  work();
  for (Thread &thread : threads)
    thread.join();
  for (Status &status : statuses)
    GANTRY_RETURN_IF_ERROR(std::move(status));

  cache.save();
  std::vector<std::unique_ptr<device::Kernel>> result;
  result.reserve(kernels.size());
  for (auto &kernel : kernels)
    result.push_back(std::move(kernel));
  return result;
}

} // namespace gantry::vulkan

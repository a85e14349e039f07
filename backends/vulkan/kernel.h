// Kernels: SPIR-V to compute pipelines, compiled by several threads through one pipeline cache.
#pragma once

#include "backends/vulkan/vulkan_device.h"

namespace gantry::vulkan {

class VulkanKernel final : public device::Kernel {
public:
  VulkanKernel(std::shared_ptr<VulkanDevice> device, const device::KernelSource &source)
      : Kernel(source), device_(std::move(device)), descriptors_(descriptorsOf(source)) {}
  ~VulkanKernel() override;

  /// Makes the pipeline. Distinct kernels may be compiled by distinct threads with one cache.
  Status compile(const device::KernelSource &source, VkPipelineCache cache);
  VkPipeline pipeline() const { return pipeline_; }
  const VulkanDevice::Layout &layout() const { return layout_; }
  /// Of set 0, ascending: storage buffers below bufferCount(), texel buffers from there on.
  const std::vector<VulkanDevice::Descriptor> &descriptors() const { return descriptors_; }

private:
  static std::vector<VulkanDevice::Descriptor> descriptorsOf(const device::KernelSource &source);

  std::shared_ptr<VulkanDevice> device_;
  std::vector<VulkanDevice::Descriptor> descriptors_;
  VulkanDevice::Layout layout_;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

/// All or nothing; the first failure in the order of sources is returned.
Result<std::vector<std::unique_ptr<device::Kernel>>>
compileKernels(const std::shared_ptr<VulkanDevice> &device,
               std::span<const device::KernelSource> sources,
               const std::optional<std::string> &cachePath);

} // namespace gantry::vulkan

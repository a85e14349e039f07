// Kernels are compute pipelines. Several threads compile them from SPIR-V, with one pipeline cache.
//
// Thread safety and errors: those of device::Kernel (engine/device/device.h).
#pragma once

#include "backends/vulkan/vulkan_device.h"

namespace gantry::vulkan {

/// A kernel of the Vulkan backend. It keeps its device alive.
class VulkanKernel final : public device::Kernel {
public:
  VulkanKernel(std::shared_ptr<VulkanDevice> device, const device::KernelSource &source)
      : Kernel(source), device_(std::move(device)), descriptors_(descriptorsOf(source)) {}
  ~VulkanKernel() override;

  /// Compiles the pipeline. Different threads may compile different kernels with one cache.
  Status compile(const device::KernelSource &source, VkPipelineCache cache);
  VkPipeline pipeline() const { return pipeline_; }
  const VulkanDevice::Layout &layout() const { return layout_; }
  /// The descriptors of set 0, in increasing order of their bindings: storage buffers have bindings
  /// below bufferCount(), texel buffers have the others.
  const std::vector<VulkanDevice::Descriptor> &descriptors() const { return descriptors_; }

private:
  static std::vector<VulkanDevice::Descriptor> descriptorsOf(const device::KernelSource &source);

  std::shared_ptr<VulkanDevice> device_;
  std::vector<VulkanDevice::Descriptor> descriptors_;
  VulkanDevice::Layout layout_;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

/// Compiles all kernels. If one of them fails, returns the first failure in the order of the
/// sources. `cachePath` has the meaning that it has in device::Device::createKernels().
Result<std::vector<std::unique_ptr<device::Kernel>>>
compileKernels(const std::shared_ptr<VulkanDevice> &device,
               std::span<const device::KernelSource> sources,
               const std::optional<std::string> &cachePath);

} // namespace gantry::vulkan

// The Vulkan device: one VkDevice with one compute queue and one timeline semaphore. Each
// submission signals the semaphore with the next number, its ticket. If only another queue family
// can bind sparse memory, the device has a second queue for it.
//
// Memories, kernels and command lists hold a shared pointer to their device.
//
// Thread safety: that of device::Device (engine/device/device.h). One mutex guards the queues, and
// another one the cache of layouts.
#pragma once

#include "backends/vulkan/instance.h"
#include "engine/device/device.h"

#include <map>
#include <mutex>
#include <tuple>

namespace gantry::vulkan {

class VulkanDevice final : public device::Device {
public:
  /// Opens the device with this index in instance->plans().
  static Result<std::shared_ptr<VulkanDevice>> open(std::unique_ptr<Instance> instance,
                                                    size_t deviceIndex);
  ~VulkanDevice() override;

  VkDevice handle() const { return device_; }
  const VolkDeviceTable &table() const { return table_; }
  const DevicePlan &plan() const { return instance_->plans()[index_]; }
  const DeviceSnapshot &snapshot() const { return instance_->snapshots()[index_]; }
  uint64_t validationMessages() const override { return instance_->messages(); }

  /// A descriptor of a kernel.
  struct Descriptor {
    uint32_t binding; // Binding number in set 0.
    VkDescriptorType type;
    bool operator<(const Descriptor &other) const {
      return std::tie(binding, type) < std::tie(other.binding, other.type);
    }
  };
  struct Layout {
    VkDescriptorSetLayout set = VK_NULL_HANDLE; // Null for kernels without descriptors.
    VkPipelineLayout pipeline = VK_NULL_HANDLE;
  };
  /// Returns the layout for kernels with these descriptors (in increasing order of their bindings)
  /// and this size of the push-constant block. The device owns the layout.
  Result<Layout> layout(const std::vector<Descriptor> &descriptors, uint32_t pushConstantBytes);

  /// Returns the usage flags of the device's buffers.
  VkBufferUsageFlags bufferUsage() const {
    return vulkan::bufferUsage(profile().features.bufferDeviceAddress,
                               profile().maxTexelBufferElements > 0);
  }

  /// Return the names that traces use for imported memory, as ids of interned strings.
  uint32_t hostImportName() const { return hostImportName_; }
  uint32_t fdImportName() const { return fdImportName_; }

  using Device::countAllocated;
  using Device::countFreed;
  using Device::noHostMemory;
  /// Names a Vulkan object for debugging tools. Does nothing without VK_EXT_debug_utils.
  void setName(VkObjectType type, uint64_t handle, const char *name);
  /// Binds memory to a part of a sparse buffer; later submissions wait for the binding. If `memory`
  /// is VK_NULL_HANDLE, unbinds the memory of that part and waits until this is done.
  Status bindSparse(VkBuffer buffer, uint64_t offset, uint64_t size, VkDeviceMemory memory);

  /// Waits until all bindings so far are done. Marks the device as lost if the waits fail.
  void finishBindings();

  std::shared_ptr<VulkanDevice> self() {
    return std::static_pointer_cast<VulkanDevice>(shared_from_this());
  }

private:
  VulkanDevice() = default;
  Status create(size_t deviceIndex);
  Result<std::unique_ptr<device::Memory>>
  doAllocate(device::MemoryKind kind, uint64_t sizeBytes,
             const device::AllocateOptions &options) override;
  Status doMemoryBudgets(std::span<device::MemoryBudget> perHeap) override;
  Result<device::ClockReading> doReadClocks() override;
  Result<std::unique_ptr<device::Memory>> doReserve(uint64_t rangeBytes) override;
  Result<uint64_t> doCommit(device::Memory &range, uint64_t offset, uint64_t size) override;
  Status doDecommit(device::Memory &range, uint64_t offset, uint64_t size) override;
  void doRelease(device::Memory &range, uint64_t token) override;
  Result<std::unique_ptr<device::Memory>> doImport(const device::ImportSource &source) override;
  Result<int> doExport(device::Memory &memory) override;
  Result<std::vector<std::unique_ptr<device::Kernel>>>
  doCreateKernels(std::span<const device::KernelSource> sources,
                  const std::optional<std::string> &cachePath) override;
  Result<std::unique_ptr<device::CommandList>> doCreateCommandList() override;
  Result<uint64_t> doSubmit(device::CommandList &list) override;
  Result<bool> doWait(uint64_t ticket, uint64_t timeoutNs) override;
  Result<uint64_t> doCompleted() override;
  Status doWarmUp(std::span<const std::unique_ptr<device::Kernel>> kernels) override;
  Status openSparse();
  Result<VkSemaphore> createTimeline();
  Result<bool> waitFor(VkSemaphore timeline, uint64_t value, uint64_t timeoutNs);

  std::unique_ptr<Instance> instance_;
  size_t index_ = 0;
  uint32_t hostImportName_ = 0;
  uint32_t fdImportName_ = 0;
  VkDevice device_ = VK_NULL_HANDLE;
  VolkDeviceTable table_{};
  VkQueue queue_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::mutex queueMutex_;
  uint64_t lastTicket_ = 0; // Guarded by queueMutex_, like lastBinding_ and waitedBinding_.
  // The following members are used only if info().virtualMemory.supported. Bindings of sparse
  // memory signal the timeline bindings_, and the next submission waits for it.
  VkQueue sparseQueue_ = VK_NULL_HANDLE; // May be the same as queue_.
  VkSemaphore bindings_ = VK_NULL_HANDLE;
  uint64_t lastBinding_ = 0;   // Value that the last binding signals.
  uint64_t waitedBinding_ = 0; // Last value that a submission waited for.
  std::mutex layoutMutex_;
  std::map<std::vector<Descriptor>, VkDescriptorSetLayout> setLayouts_;
  std::map<std::pair<std::vector<Descriptor>, uint32_t>, VkPipelineLayout> pipelineLayouts_;
};

/// Opens a device like openDevice() of vulkan.h, but with functions of the driver replaced. For
/// tests.
Result<std::shared_ptr<device::Device>> openDevice(const std::string &selector,
                                                   const DriverHooks &hooks);

} // namespace gantry::vulkan

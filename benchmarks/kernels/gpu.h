// Raw Vulkan for hand-written kernels: the yardstick beside which the engine's runs are measured.
//
// As little as a careful person writes by hand: one device, one queue, dedicated allocations, one
// descriptor set per dispatch, command buffers recorded once. It is not a way to run models (that
// is gantry.h), and nothing of the engine is used, so that a slow engine cannot make its own
// yardstick slow.
//
// Time is what Commands::run returns: on a software device CPU seconds of the process (getrusage:
// the driver's threads are its kernels), on a GPU seconds between two timestamps on its queue.
//
// Threads: all of it is used by one thread. Ownership: a Gpu outlives what was made from it.
// Errors: GpuError with the call or the value that was wrong.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>
#include <volk.h>

namespace gantry::bench {

struct GpuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct GpuInfo {
  std::string name;
  bool software = false;
  uint32_t subgroupSize = 1;
  bool fixesSubgroupSize = false;     // kernels are made for it; else the driver may choose another
  uint64_t maxStorageBufferRange = 0; // bytes
  uint64_t maxTexelElements = 0;      // of one texel buffer
  double timestampNs = 1;             // of one tick
  std::array<uint8_t, 16> uuid{};     // the device's, the same in other APIs
};

/// CPU seconds that this process has used, user and system, all threads.
double cpuSeconds();

class Gpu {
public:
  /// selector: an index in the driver's order, part of a name in any case, or "": the first device.
  /// GANTRY_VALIDATION=1 switches the validation layer on.
  explicit Gpu(const std::string &selector);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const GpuInfo &info() const { return info_; }
  /// Warnings and errors of the validation layer so far; they are printed as they come.
  uint64_t validationMessages() const { return messages_; }
  VkDevice device() const { return device_; }
  VkCommandPool pool() const { return pool_; }
  /// The first memory type among those of the bits that has the properties; fails by name.
  uint32_t memoryType(uint32_t bits, VkMemoryPropertyFlags properties) const;
  void submitAndWait(VkCommandBuffer commands);

private:
  void openInstance();
  void choose(const std::string &selector);
  void readSubgroupControl();
  void openDevice();
  static VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                  VkDebugUtilsMessageTypeFlagsEXT,
                                                  const VkDebugUtilsMessengerCallbackDataEXT *,
                                                  void *user);

  GpuInfo info_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  uint64_t messages_ = 0;
};

/// Device-local memory with a VkBuffer over it. Filled and read through a staging buffer of the
/// call's duration.
class GpuBuffer {
public:
  GpuBuffer(Gpu &gpu, uint64_t sizeBytes);
  GpuBuffer(Gpu &gpu, std::span<const float> content);
  ~GpuBuffer();
  GpuBuffer(const GpuBuffer &) = delete;
  GpuBuffer &operator=(const GpuBuffer &) = delete;

  VkBuffer handle() const { return buffer_; }
  uint64_t sizeBytes() const { return sizeBytes_; }
  void upload(std::span<const float> content);
  std::vector<float> download() const;

private:
  GpuBuffer(Gpu &gpu, uint64_t sizeBytes, VkMemoryPropertyFlags properties);
  void transfer(float *to, const float *from) const;

  Gpu &gpu_;
  uint64_t sizeBytes_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

/// How a kernel sees a buffer: as texels of four floats (read only), or as a storage buffer.
enum class Access { kTexel, kStorage };

/// A pipeline, for subgroups of the device's usual size where the driver takes orders. Its
/// specialization constants have the ids 0, 1, … in the order given; its bindings
/// are 0, 1, … of set 0; its push constants begin at byte 0.
class GpuKernel {
public:
  GpuKernel(Gpu &gpu, std::span<const uint32_t> spirv, std::vector<Access> bindings,
            const std::vector<uint32_t> &constants, uint32_t pushBytes = 0);
  ~GpuKernel();
  GpuKernel(const GpuKernel &) = delete;
  GpuKernel &operator=(const GpuKernel &) = delete;

  const std::vector<Access> &bindings() const { return bindings_; }
  VkPipeline pipeline() const { return pipeline_; }
  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout setLayout() const { return setLayout_; }

private:
  Gpu &gpu_;
  std::vector<Access> bindings_;
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

struct BufferRange {
  const GpuBuffer *buffer = nullptr;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = VK_WHOLE_SIZE;
};

struct Dispatch {
  const GpuKernel *kernel = nullptr;
  std::vector<BufferRange> ranges; // one per binding
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::vector<uint32_t> push; // words of the kernel's push constants
};

/// A command buffer: the dispatches in order, the whole list `repeats` times, with a memory barrier
/// between one and the next where asked for. The kernels and buffers outlive it.
class Commands {
public:
  Commands(Gpu &gpu, const std::vector<Dispatch> &dispatches, uint32_t repeats, bool barriers);
  ~Commands();
  Commands(const Commands &) = delete;
  Commands &operator=(const Commands &) = delete;

  /// Submits, waits, and returns the seconds of one repeat: see the head.
  double run();

private:
  void bind(const Dispatch &dispatch, VkDescriptorSet set);
  void record(const std::vector<Dispatch> &dispatches, const std::vector<VkDescriptorSet> &sets,
              bool barriers);

  Gpu &gpu_;
  uint32_t repeats_;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::vector<VkBufferView> views_;
};

} // namespace gantry::bench

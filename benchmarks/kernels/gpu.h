// Runs hand-written kernels through direct Vulkan calls. They are the references with which the
// runs of Gantry's runtime (its engine) are compared.
//
// The code is minimal: one device, one queue, dedicated allocations, one descriptor set per
// dispatch, command buffers that are recorded once. It does not run models (gantry.h does), and it
// uses nothing of the engine, because a slow engine would then slow down the reference too and the
// comparison would not show it.
//
// Commands::run returns the time: on a software device the CPU seconds of the process (getrusage),
// which include the driver's threads that run kernels; on a GPU the seconds between two timestamps
// on its queue.
//
// Threads: one thread uses all objects of this file. Ownership: a Gpu must outlive all objects made
// from it. Errors: GpuError with the failed call or the wrong value.
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
  bool fixesSubgroupSize = false;     // Whether kernels can require the subgroup size.
  uint64_t maxStorageBufferRange = 0; // Maximum size of a binding in bytes.
  uint64_t maxTexelElements = 0;      // Maximum number of elements of a texel buffer.
  double timestampNs = 1;             // Nanoseconds per timestamp tick.
  std::array<uint8_t, 16> uuid{};     // The device's UUID, which other APIs report too.
};

/// Returns the CPU seconds that this process has used: user and system time of all threads.
double cpuSeconds();

class Gpu {
public:
  /// Opens a device. `selector` is an index in the driver's order, a part of a name
  /// (case-insensitive), or empty for the first device. GANTRY_VALIDATION=1 enables the validation
  /// layer.
  explicit Gpu(const std::string &selector);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const GpuInfo &info() const { return info_; }
  /// Number of warnings and errors of the validation layer so far. They are printed immediately.
  uint64_t validationMessages() const { return messages_; }
  VkDevice device() const { return device_; }
  VkCommandPool pool() const { return pool_; }
  /// Returns the first memory type of `bits` that has the properties. Throws GpuError if there is
  /// none.
  uint32_t memoryType(uint32_t bits, VkMemoryPropertyFlags properties) const;
  /// Submits a command buffer and waits, without a timeout, until the device has executed it.
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

/// A VkBuffer with device-local memory. upload() and download() copy through a temporary staging
/// buffer.
class GpuBuffer {
public:
  GpuBuffer(Gpu &gpu, uint64_t sizeBytes);
  GpuBuffer(Gpu &gpu, std::span<const float> content);
  ~GpuBuffer();
  GpuBuffer(const GpuBuffer &) = delete;
  GpuBuffer &operator=(const GpuBuffer &) = delete;

  VkBuffer handle() const { return buffer_; }
  uint64_t sizeBytes() const { return sizeBytes_; }
  /// `content` must have the buffer's size.
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

/// How a kernel binds a buffer: as texels of four floats (read only), or as a storage buffer.
enum class Access { kTexel, kStorage };

/// A compute pipeline. It requires the subgroup size GpuInfo::subgroupSize if the driver supports
/// such a requirement (GpuInfo::fixesSubgroupSize). The ids of the specialization constants are
/// 0, 1, … in the given order, the bindings are 0, 1, … of set 0, and the push constants begin at
/// byte 0.
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

/// The part of a buffer that a kernel binds.
struct BufferRange {
  const GpuBuffer *buffer = nullptr;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = VK_WHOLE_SIZE;
};

struct Dispatch {
  const GpuKernel *kernel = nullptr;
  std::vector<BufferRange> ranges; // One range per binding.
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::vector<uint32_t> push; // Push constants in 4-byte words.
};

/// A command buffer with the dispatches in order, repeated `repeats` times, optionally with a
/// memory barrier after each dispatch. The kernels and buffers must outlive it.
class Commands {
public:
  Commands(Gpu &gpu, const std::vector<Dispatch> &dispatches, uint32_t repeats, bool barriers);
  ~Commands();
  Commands(const Commands &) = delete;
  Commands &operator=(const Commands &) = delete;

  /// Submits, waits, and returns the seconds of one repetition, measured as the file's header says.
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

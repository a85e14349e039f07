// Kernels and command lists of the driver interface (see device.h).
//
// A kernel's block of words is DESIGN's "Kernel ABI". Threads: a Kernel or CommandList is used by
// one thread at a time. Units: bytes and nanoseconds.
#pragma once

#include "engine/base/status.h"
#include "engine/device/memory.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::device {

/// How a kernel finds its buffers (artifact.fbs, Binding).
enum class BindingMode {
  kStorageBuffer, // set 0, binding i = buffer i; the push-constant block holds the dims
  kAddress,       // the block holds the buffers' addresses, then the dims
  kTexel, // as storage buffers; those of KernelSource::texels are uniform texel buffers, too
};

enum class TexelFormat { kRgba32f, kRgba32i, kRgba16f };

/// Bytes of a texel: four elements.
inline uint64_t texelBytes(TexelFormat format) { return format == TexelFormat::kRgba16f ? 8 : 16; }

/// A buffer that a kernel reads as a texel buffer, at set 0, binding bufferCount + buffer. The view
/// begins with the bound range and holds all its bytes: its last texel may end beyond the range,
/// but within the memory.
struct TexelRead {
  uint32_t buffer = 0;
  TexelFormat format = TexelFormat::kRgba32f;
  bool alone = true; // not bound as a storage buffer besides
};

struct KernelSource {
  std::string_view name; // for messages
  std::string_view entryPoint;
  std::span<const uint32_t> spirv;
  uint32_t workgroupSize[3] = {1, 1, 1}; // as in the SPIR-V; checked against the limits
  uint32_t subgroupSize = 0;             // that all subgroups must have; 0: any
  uint32_t bufferCount = 0;
  uint32_t dimCount = 0; // 8-byte words, of which kernels use the low 32 bits
  BindingMode binding = BindingMode::kStorageBuffer;
  std::span<const TexelRead> texels; // kTexel: in ascending order of buffers; others: none
  uint32_t sharedBytes = 0;

  /// Bytes of the push-constant block: 8 per dim, and 8 per buffer where it is bound by address.
  uint32_t pushConstantBytes() const {
    return 8 * (dimCount + (binding == BindingMode::kAddress ? bufferCount : 0));
  }
  /// Storage-buffer bindings.
  uint32_t storageBufferCount() const;
};

class Kernel {
public:
  virtual ~Kernel() = default;
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;
  const std::string &name() const { return name_; }
  uint32_t bufferCount() const { return bufferCount_; }
  uint32_t dimCount() const { return dimCount_; }
  BindingMode binding() const { return binding_; }
  std::span<const TexelRead> texels() const { return texels_; }
  uint32_t storageBufferCount() const { return storageBufferCount_; }

protected:
  explicit Kernel(const KernelSource &source)
      : name_(source.name), bufferCount_(source.bufferCount), dimCount_(source.dimCount),
        binding_(source.binding), texels_(source.texels.begin(), source.texels.end()),
        storageBufferCount_(source.storageBufferCount()) {}
  std::string name_;
  uint32_t bufferCount_;
  uint32_t dimCount_;
  BindingMode binding_;
  std::vector<TexelRead> texels_;
  uint32_t storageBufferCount_;

private:
  friend class Device;
  friend class CommandList;
  const Device *owner_ = nullptr;
};

/// A stretch of memory.
struct BufferRange {
  Memory *memory = nullptr;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
};

struct Dispatch {
  Kernel *kernel = nullptr;
  std::span<const BufferRange> buffers;
  std::span<const uint64_t> dims;
  uint32_t workgroups[3] = {1, 1, 1};
  uint32_t firstWorkgroup[3] = {0, 0, 0}; // what the kernel sees as the first one's id
};

/// What a command list will hold at most; dispatches and timestamps beyond it are refused.
struct CommandListCapacity {
  uint32_t dispatches = 0;
  uint32_t storageBuffers = 0; // bindings of all dispatches, Kernel::storageBufferCount each
  uint32_t timestamps = 0;
  uint32_t texelBuffers = 0; // bindings of all dispatches, Kernel::texels().size() each
};

inline constexpr uint64_t kMaxUpdateBytes = 65536; // of one CommandList::update

/// Commands recorded once and submitted any number of times, one submission at a time. A list
/// starts after all that was submitted before it has finished; inside, commands run in any order
/// except across barrier(). When it is done, the host sees what it wrote. Its memories and kernels
/// are of its own device; in a range, what a command touches has storage when it runs. On a lost
/// device every call fails with kDeviceLost.
class CommandList {
public:
  virtual ~CommandList() = default;
  CommandList(const CommandList &) = delete;
  CommandList &operator=(const CommandList &) = delete;

  Status begin(const CommandListCapacity &capacity); // once
  Status dispatch(const Dispatch &dispatch);
  Status copy(const BufferRange &source, Memory &target, uint64_t targetOffsetBytes);
  /// Every 4 bytes of the range become word; offset and size are multiples of 4.
  Status fill(const BufferRange &range, uint32_t word);
  /// The range takes these bytes, which are copied now: as many as the range has, at most
  /// kMaxUpdateBytes; offset and size are multiples of 4.
  Status update(const BufferRange &range, std::span<const uint8_t> bytes);
  /// All earlier commands finish, and are visible, before later ones start.
  Status barrier();
  /// Records the device's time after all earlier commands.
  Status timestamp();
  Status end();
  bool ended() const { return state_ == State::kEnded; }

  /// The times of the last submission, in order, counted from the first; only after it is done.
  Result<std::vector<uint64_t>> timestampsNs();
  /// The same as the device's clock counts, from a moment of its own: to relate lists to each
  /// other.
  Result<std::vector<uint64_t>> deviceTimesNs();

protected:
  explicit CommandList(const Device &device) : owner_(device) {} // which outlives the list

private:
  virtual Status doBegin(const CommandListCapacity &capacity) = 0;
  virtual Status doDispatch(const Dispatch &dispatch) = 0;
  virtual Status doCopy(const BufferRange &source, Memory &target, uint64_t targetOffset) = 0;
  virtual Status doFill(const BufferRange &range, uint32_t word) = 0;
  virtual Status doUpdate(const BufferRange &range, std::span<const uint8_t> bytes) = 0;
  virtual Status doBarrier() = 0;
  virtual Status doTimestamp(uint32_t index) = 0;
  virtual Status doEnd() = 0;
  /// On the device's clock.
  virtual Result<std::vector<uint64_t>> doTimestampsNs(uint32_t count) = 0;

  friend class Device;
  enum class State { kInitial, kRecording, kEnded };
  Status checkRecording(const char *what) const;
  Status checkRange(const char *what, const BufferRange &range) const;
  Status checkBindings(const Dispatch &dispatch) const;
  Status checkWords(const char *what, const BufferRange &range) const;
  const Device &owner_;
  CommandListCapacity capacity_;
  CommandListCapacity used_;
  State state_ = State::kInitial;
};

} // namespace gantry::device

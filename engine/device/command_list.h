// Kernels and command lists of the driver interface (see device.h).
//
// Kernel ABI: a kernel receives one block of 8-byte words, in push constants. The words are the
// addresses of its buffers, if buffers are bound by address, followed by its dynamic dimensions
// ("dims"). With the other binding modes the buffers are bound through descriptor set 0.
//
// Threads: a Kernel or CommandList is used by one thread at a time. Units: bytes and nanoseconds.
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

/// How a kernel's buffers are bound. Compiled models store it as Binding (artifact.fbs).
enum class BindingMode {
  kStorageBuffer, // Set 0, binding i is buffer i; the push-constant block holds the dims.
  kAddress,       // The push-constant block holds the buffers' addresses, then the dims.
  kTexel, // Storage buffers, and uniform texel buffers for the buffers of KernelSource::texels.
};

enum class TexelFormat { kRgba32f, kRgba32i, kRgba16f, kRgba8ui };

/// Bytes of a texel, which holds four elements.
inline uint64_t texelBytes(TexelFormat format) {
  return format == TexelFormat::kRgba8ui ? 4 : format == TexelFormat::kRgba16f ? 8 : 16;
}

/// A buffer that a kernel reads as a texel buffer, at set 0, binding bufferCount + buffer. The
/// texel buffer view starts at the start of the bound range and covers the whole range. Its last
/// texel may end beyond the range, but not beyond the memory.
struct TexelRead {
  uint32_t buffer = 0; // Index of the buffer in the kernel's order.
  TexelFormat format = TexelFormat::kRgba32f;
  bool alone = true; // The buffer is bound only as a texel buffer, not also as a storage buffer.
};

/// The description from which Device::createKernels() makes a kernel.
struct KernelSource {
  std::string_view name; // For messages.
  std::string_view entryPoint;
  std::span<const uint32_t> spirv;
  uint32_t workgroupSize[3] = {1, 1, 1}; // As in the SPIR-V; checked against the device's limits.
  uint32_t subgroupSize = 0;             // Lanes that each subgroup must have; 0: any number.
  uint32_t bufferCount = 0;
  uint32_t dimCount = 0; // Number of dims; each is an 8-byte word of which kernels read 32 bits.
  BindingMode binding = BindingMode::kStorageBuffer;
  // The buffers that are read as texel buffers, in ascending order of TexelRead::buffer; empty
  // unless the binding is kTexel.
  std::span<const TexelRead> texels;
  uint32_t sharedBytes = 0; // Shared memory of a workgroup.

  /// Bytes of the push-constant block: 8 per dim, and 8 per buffer that is bound by address.
  uint32_t pushConstantBytes() const {
    return 8 * (dimCount + (binding == BindingMode::kAddress ? bufferCount : 0));
  }
  /// The number of storage-buffer bindings.
  uint32_t storageBufferCount() const;
};

/// A compiled kernel of one device.
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

/// A range of bytes in a Memory. The range must lie inside the Memory.
struct BufferRange {
  Memory *memory = nullptr;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
};

/// One launch of a kernel. The spans have the lengths Kernel::bufferCount() and dimCount().
struct Dispatch {
  Kernel *kernel = nullptr;
  std::span<const BufferRange> buffers;
  std::span<const uint64_t> dims;
  uint32_t workgroups[3] = {1, 1, 1};
  uint32_t firstWorkgroup[3] = {0, 0, 0}; // The workgroup id of the dispatch's first workgroup.
};

/// Upper limits on the contents of a command list. Commands that exceed a limit are refused.
struct CommandListCapacity {
  uint32_t dispatches = 0;
  uint32_t storageBuffers = 0; // Sum of Kernel::storageBufferCount() over the dispatches.
  uint32_t timestamps = 0;
  uint32_t texelBuffers = 0; // Sum of Kernel::texels().size() over the dispatches.
};

inline constexpr uint64_t kMaxUpdateBytes = 65536; // Max size of one CommandList::update().

/// A list of commands that is recorded once and submitted any number of times, one submission at a
/// time.
///
/// A submission starts after all earlier submissions have finished. Within a list, commands may run
/// in any order except across barrier(). After a submission is done, the host sees all bytes that
/// its commands wrote. Memories and kernels must belong to the list's device. The parts of a
/// reserved range (Device::reserve) that a command touches must have storage when the command runs.
///
/// Errors: kInvalidArgument for wrong arguments and for commands beyond the capacity, kUnsupported
/// for what the device cannot do (a dispatch beyond its limits, a timestamp), kFailedPrecondition
/// for calls in the wrong order, kDeviceLost for every call after the device was lost.
class CommandList {
public:
  virtual ~CommandList() = default;
  CommandList(const CommandList &) = delete;
  CommandList &operator=(const CommandList &) = delete;

  /// Starts the recording. A list is recorded once.
  Status begin(const CommandListCapacity &capacity);
  Status dispatch(const Dispatch &dispatch);
  Status copy(const BufferRange &source, Memory &target, uint64_t targetOffsetBytes);
  /// Stores `word` in every 4 bytes of the range. Offset and size must be multiples of 4.
  Status fill(const BufferRange &range, uint32_t word);
  /// Stores `bytes` in the range when the list runs. The call copies the bytes into the list. Their
  /// number must equal the range's size and be at most kMaxUpdateBytes; offset and size must be
  /// multiples of 4.
  Status update(const BufferRange &range, std::span<const uint8_t> bytes);
  /// Orders commands: all earlier commands finish, and their writes become visible, before any
  /// later command starts.
  Status barrier();
  /// Records the device's time after all earlier commands have finished.
  Status timestamp();
  /// Ends the recording; the list may then be submitted.
  Status end();
  bool ended() const { return state_ == State::kEnded; }

  /// Returns the timestamps of the last submission in nanoseconds since the first of them. The
  /// submission must be done.
  Result<std::vector<uint64_t>> timestampsNs();
  /// Returns the timestamps of the last submission on the device's clock, in nanoseconds since an
  /// arbitrary moment. They can be compared between lists of one device.
  Result<std::vector<uint64_t>> deviceTimesNs();

protected:
  /// The device must outlive the list.
  explicit CommandList(const Device &device) : owner_(device) {}

private:
  virtual Status doBegin(const CommandListCapacity &capacity) = 0;
  virtual Status doDispatch(const Dispatch &dispatch) = 0;
  virtual Status doCopy(const BufferRange &source, Memory &target, uint64_t targetOffset) = 0;
  virtual Status doFill(const BufferRange &range, uint32_t word) = 0;
  virtual Status doUpdate(const BufferRange &range, std::span<const uint8_t> bytes) = 0;
  virtual Status doBarrier() = 0;
  virtual Status doTimestamp(uint32_t index) = 0;
  virtual Status doEnd() = 0;
  /// Returns the timestamps on the device's clock.
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

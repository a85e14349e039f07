// The driver interface: what the engine asks of a backend. The only virtual functions of the
// engine.
//
// A backend supplies memory, kernels, command lists and one queue with a monotonic timeline; all
// that decides (what lies where, which kernel variant, where barriers go) is above. Public
// functions check their arguments and call the private do... functions, which a backend implements;
// so a backend sees only calls that are valid by themselves.
//
// What it is not: no suballocation (engine/heap will do that; here one Memory is one driver
// allocation), no reference counting, no hazard tracking: the caller places barriers.
//
// Ownership: memories, kernels and command lists keep their device alive; the caller keeps them
// alive until the submissions that use them are done.
// Threads: a Device may be used from several threads. A Memory, Kernel or CommandList is used by
// one thread at a time. Units: bytes and nanoseconds.
#pragma once

#include "engine/base/device_profile.h"
#include "engine/base/status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::device {

enum class DeviceKind { kDiscrete = 0, kIntegrated = 1, kVirtual = 2, kSoftware = 3 };

struct DeviceInfo {
  uint32_t index = 0; // position in the preferred order
  std::string name;
  std::string driver;
  std::string backend;    // "vulkan"
  std::string apiVersion; // "1.3.230"
  DeviceKind kind = DeviceKind::kDiscrete;
  bool unifiedMemory = false;                     // device-local memory is host-visible
  bool timestamps = false;                        // its queue can record times
  std::string missing;                            // what it lacks to be usable, "" if nothing
  uint64_t memoryBytes = 0;                       // of the largest device-local heap
  uint64_t minStorageBufferOffsetAlignment = 256; // of the start of a storage-buffer binding
  DeviceProfile profile;
};

enum class MemoryKind {
  kDevice,   // fastest for kernels; not mapped
  kUpload,   // mapped, for writing by the host
  kReadback, // mapped, for reading by the host (cached where the device has it)
  kUnified,  // mapped, bound by kernels; device-local where the device has such memory
};
const char *memoryKindName(MemoryKind kind);

/// One driver allocation, usable as storage and as source and target of copies.
class Memory {
public:
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  MemoryKind kind() const { return kind_; }
  uint64_t sizeBytes() const { return sizeBytes_; } // as requested
  uint64_t address() const { return address_; }     // 0 where the device has no addresses
  uint8_t *mapped() const { return mapped_; }       // nullptr for kDevice; coherent

protected:
  Memory(MemoryKind kind, uint64_t sizeBytes) : kind_(kind), sizeBytes_(sizeBytes) {}
  MemoryKind kind_;
  uint64_t sizeBytes_;
  uint64_t address_ = 0;
  uint8_t *mapped_ = nullptr;
};

/// How a kernel finds its buffers (artifact.fbs, Binding).
enum class BindingMode {
  kStorageBuffer, // set 0, binding i = buffer i; the push-constant block holds the dims
  kAddress,       // the block holds the buffers' addresses, then the dims
};

struct KernelSource {
  std::string_view name; // for messages
  std::string_view entryPoint;
  std::span<const uint32_t> spirv;
  uint32_t workgroupSize[3] = {1, 1, 1}; // as in the SPIR-V; checked against the limits
  uint32_t bufferCount = 0;
  uint32_t dimCount = 0; // 8-byte words, of which kernels use the low 32 bits
  BindingMode binding = BindingMode::kStorageBuffer;
  uint32_t sharedBytes = 0;

  /// Bytes of the push-constant block: 8 per dim, and 8 per buffer where it is bound by address.
  uint32_t pushConstantBytes() const {
    return 8 * (dimCount + (binding == BindingMode::kAddress ? bufferCount : 0));
  }
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

protected:
  explicit Kernel(const KernelSource &source)
      : name_(source.name), bufferCount_(source.bufferCount), dimCount_(source.dimCount),
        binding_(source.binding) {}
  std::string name_;
  uint32_t bufferCount_;
  uint32_t dimCount_;
  BindingMode binding_;
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
};

/// What a command list will hold at most; dispatches and timestamps beyond it are refused.
struct CommandListCapacity {
  uint32_t dispatches = 0;
  uint32_t storageBuffers = 0; // bindings of all dispatches that bind storage buffers
  uint32_t timestamps = 0;
};

/// Commands recorded once and submitted any number of times, one submission at a time. A list
/// starts after all that was submitted before it has finished; inside, commands run in any order
/// except across barrier(). When it is done, the host sees what it wrote.
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
  /// All earlier commands finish, and are visible, before later ones start.
  Status barrier();
  /// Records the device's time after all earlier commands.
  Status timestamp();
  Status end();
  bool ended() const { return state_ == State::kEnded; }

  /// The times of the last submission, in order, counted from the first; only after it is done.
  Result<std::vector<uint64_t>> timestampsNs();

protected:
  explicit CommandList(const DeviceInfo &info) : info_(info) {} // info outlives the list

private:
  virtual Status doBegin(const CommandListCapacity &capacity) = 0;
  virtual Status doDispatch(const Dispatch &dispatch) = 0;
  virtual Status doCopy(const BufferRange &source, Memory &target, uint64_t targetOffset) = 0;
  virtual Status doFill(const BufferRange &range, uint32_t word) = 0;
  virtual Status doBarrier() = 0;
  virtual Status doTimestamp(uint32_t index) = 0;
  virtual Status doEnd() = 0;
  virtual Result<std::vector<uint64_t>> doTimestampsNs(uint32_t count) = 0;

  enum class State { kInitial, kRecording, kEnded };
  Status checkRecording(const char *what) const;
  const DeviceInfo &info_;
  CommandListCapacity capacity_;
  CommandListCapacity used_;
  State state_ = State::kInitial;
};

class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceInfo &info() const { return info_; }
  const DeviceProfile &profile() const { return info_.profile; }

  /// One driver allocation of 1 to profile().maxAllocationBytes bytes.
  Result<std::unique_ptr<Memory>> allocate(MemoryKind kind, uint64_t sizeBytes);

  /// Compiles kernels, in parallel, and warms them up so that their first dispatch is not slower
  /// than the others. cachePath: a file that keeps compiled kernels between processes: std::nullopt
  /// for the user's cache folder, "" for none; a damaged or foreign file is replaced, one that
  /// cannot be written is not an error.
  Result<std::vector<std::unique_ptr<Kernel>>>
  createKernels(std::span<const KernelSource> sources, const std::optional<std::string> &cachePath);

  Result<std::unique_ptr<CommandList>> createCommandList() { return doCreateCommandList(); }

  /// Starts an ended list, after all that was submitted earlier. Returns its ticket for wait().
  Result<uint64_t> submit(CommandList &list);

  /// True once the submission is done; false when timeoutNs passed first (UINT64_MAX: for ever).
  Result<bool> wait(uint64_t ticket, uint64_t timeoutNs) { return doWait(ticket, timeoutNs); }

  /// Warnings and errors from validation layers so far; 0 where there are none.
  virtual uint64_t validationMessages() const { return 0; }

protected:
  Device() = default;
  DeviceInfo info_;

private:
  virtual Result<std::unique_ptr<Memory>> doAllocate(MemoryKind kind, uint64_t sizeBytes) = 0;
  virtual Result<std::vector<std::unique_ptr<Kernel>>>
  doCreateKernels(std::span<const KernelSource> sources,
                  const std::optional<std::string> &cachePath) = 0;
  virtual Result<std::unique_ptr<CommandList>> doCreateCommandList() = 0;
  virtual Result<uint64_t> doSubmit(CommandList &list) = 0;
  virtual Result<bool> doWait(uint64_t ticket, uint64_t timeoutNs) = 0;
};

/// Why the device cannot take this kernel, with the numbers; ok if it can.
Status checkKernel(const KernelSource &source, const DeviceProfile &profile);

} // namespace gantry::device

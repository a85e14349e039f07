// The driver interface: what the engine asks of a backend. The only virtual functions of the
// engine.
//
// A backend supplies memory, kernels, command lists and one queue with a monotonic timeline; all
// that decides (what lies where, which kernel variant, where barriers go) is above. Public
// functions check their arguments and call the private do... functions, which a backend implements;
// so a backend sees only calls that are valid by themselves.
//
// What it is not: no suballocation (engine/heap does that; here one Memory is one driver
// allocation), no reference counting, no hazard tracking: the caller places barriers.
//
// Refusals of normal life are status codes, never aborts: kOutOfMemory where a driver or the host
// has no memory left, kUnsupported where the device lacks something. Allocating, reserving,
// committing and freeing take host memory without exceptions, so that a host without memory gives
// an error and leaks nothing.
//
// A lost device: from the first call that meets it on, every call of the device and of its command
// lists returns kDeviceLost at once, and everything can still be destroyed.
//
// Ownership: memories, kernels and command lists keep their device alive; the caller keeps them
// alive until the submissions that use them are done.
// Threads: a Device may be used from several threads. A Memory, Kernel or CommandList is used by
// one thread at a time. Units: bytes and nanoseconds.
#pragma once

#include "engine/base/device_profile.h"
#include "engine/base/status.h"
#include "engine/device/command_list.h"
#include "engine/device/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gantry::device {

enum class DeviceKind { kDiscrete = 0, kIntegrated = 1, kVirtual = 2, kSoftware = 3 };

/// Ranges of addresses that get storage piece by piece (Device::reserve).
struct VirtualMemoryInfo {
  bool supported = false;
  uint64_t granularityBytes = 0; // of commits: offset and size are multiples of it; a power of two
  uint64_t maxRangeBytes = 0;
};

struct ExternalMemoryInfo {
  uint64_t hostPointerAlignmentBytes = 0; // 0: host pointers cannot be imported
  bool opaqueFds = false;                 // memory can be exported and imported as descriptors
};

struct DeviceInfo {
  uint32_t index = 0; // position in the preferred order
  std::string name;
  std::string driver;
  std::string backend;    // "vulkan"
  std::string apiVersion; // "1.3.230"
  DeviceKind kind = DeviceKind::kDiscrete;
  bool unifiedMemory = false;                     // device-local memory is host-visible
  bool timestamps = false;                        // its queue can record times
  bool calibratedClocks = false;                  // readClocks() is there
  std::string missing;                            // what it lacks to be usable, "" if nothing
  uint64_t memoryBytes = 0;                       // of the largest device-local heap
  uint64_t minStorageBufferOffsetAlignment = 256; // of the start of a storage-buffer binding
  std::vector<MemoryHeapInfo> memoryHeaps;        // at most kMaxMemoryHeaps
  std::vector<MemoryTypeInfo> memoryTypes;        // at most kMaxMemoryTypes
  MemoryKindTable memoryKinds;                    // chooseMemoryTypes(memoryHeaps, memoryTypes)
  bool memoryPriorities = false;                  // AllocateOptions::priority has an effect
  bool memoryBudgets = false;                     // memoryBudgets() is the driver's own word
  VirtualMemoryInfo virtualMemory;
  ExternalMemoryInfo external;
  DeviceProfile profile;

  /// Bytes; what a buffer begins at a multiple of may be bound in any way.
  uint64_t bindingAlignment() const {
    const uint64_t texels = profile.maxTexelBufferElements > 0 ? profile.texelBufferAlignment : 1;
    return std::max(minStorageBufferOffsetAlignment, texels);
  }
};

/// Two clocks at one moment: the system's monotonic clock and that of a device's timestamps
/// (CommandList::deviceTimesNs). The truth lies within errorNs.
struct ClockReading {
  uint64_t hostNs = 0;
  uint64_t deviceNs = 0;
  uint64_t errorNs = 0;
};

class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceInfo &info() const { return info_; }
  const DeviceProfile &profile() const { return info_.profile; }
  /// 1, 2, 3 … in the order in which the process made its devices: its name in traces.
  uint32_t number() const { return number_; }

  /// One driver allocation of 1 to profile().maxAllocationBytes bytes.
  Result<std::unique_ptr<Memory>> allocate(MemoryKind kind, uint64_t sizeBytes,
                                           const AllocateOptions &options = {});

  /// Per heap of info().memoryHeaps (the span is as long). Where the driver does not know
  /// (info().memoryBudgets is false), the budget is 0.8 of the heap's size and what is used is what
  /// this device object has allocated.
  Status memoryBudgets(std::span<MemoryBudget> perHeap);

  /// A range of device addresses without storage: kind kDevice, 1 to
  /// info().virtualMemory.maxRangeBytes bytes, rounded up to the granularity. kUnsupported where
  /// the device has no such thing.
  Result<std::unique_ptr<Memory>> reserve(MemoryKind kind, uint64_t rangeBytes);
  /// Gives [offset, +size) of a range storage by one driver allocation; its contents are undefined.
  /// Both are multiples of the granularity, and no byte of it has storage yet. Later submissions
  /// find it there.
  Status commit(Memory &range, uint64_t offsetBytes, uint64_t sizeBytes);
  /// Takes the storage of [offset, +size) back, all of which has some; no submission uses it any
  /// more. Driver allocations go back when none of their bytes is left in the range.
  Status decommit(Memory &range, uint64_t offsetBytes, uint64_t sizeBytes);

  Result<std::unique_ptr<Memory>> importMemory(const ImportSource &source);
  /// A descriptor of memory that was allocated exportable; the caller closes it or hands it on.
  Result<int> exportMemory(Memory &memory);

  /// Compiles kernels, in parallel, and warms them up so that their first dispatch is not slower
  /// than the others. cachePath: a file that keeps compiled kernels between processes: std::nullopt
  /// for the user's cache folder, "" for none; a damaged or foreign file is replaced, one that
  /// cannot be written is not an error.
  Result<std::vector<std::unique_ptr<Kernel>>>
  createKernels(std::span<const KernelSource> sources, const std::optional<std::string> &cachePath);

  Result<std::unique_ptr<CommandList>> createCommandList();

  /// Starts an ended list, after all that was submitted earlier. Returns its ticket for wait():
  /// 1, 2, 3 ... in the order of submission.
  Result<uint64_t> submit(CommandList &list);

  /// True once the submission is done; false when timeoutNs passed first (UINT64_MAX: for ever).
  Result<bool> wait(uint64_t ticket, uint64_t timeoutNs);

  /// The last ticket that is done, and with it all before it; 0 before the first. Never waits.
  Result<uint64_t> completed();

  /// Both clocks, as the driver reads them together, without a submission. kUnsupported where
  /// info().calibratedClocks is false.
  Result<ClockReading> readClocks();

  /// True after a call has met a lost device.
  bool isLost() const { return lost_.load(std::memory_order_acquire); }

  /// Warnings and errors from validation layers so far; 0 where there are none.
  virtual uint64_t validationMessages() const { return 0; }

protected:
  Device() = default;
  /// What every call says once the device is lost.
  Status lostStatus() const;
  void markLost() { lost_.store(true, std::memory_order_release); }
  /// Without host memory a message has none either: this one fits into the string itself.
  static Status noHostMemory() { return {StatusCode::kOutOfMemory, "no host memory"}; }
  /// Keeps count of what memoryBudgets() falls back to. Warns when an allocation carries a heap
  /// across its budget, where the budget is an estimate: the driver's own budgets are the heap
  /// manager's to keep.
  void countAllocated(uint32_t heap, uint64_t sizeBytes);
  void countFreed(uint32_t heap, uint64_t sizeBytes) {
    allocatedBytes_[heap].fetch_sub(sizeBytes, std::memory_order_relaxed);
  }
  DeviceInfo info_;

private:
  friend class CommandList;
  virtual Result<std::unique_ptr<Memory>> doAllocate(MemoryKind kind, uint64_t sizeBytes,
                                                     const AllocateOptions &options) = 0;
  virtual Result<std::vector<std::unique_ptr<Kernel>>>
  doCreateKernels(std::span<const KernelSource> sources,
                  const std::optional<std::string> &cachePath) = 0;
  virtual Result<std::unique_ptr<CommandList>> doCreateCommandList() = 0;
  virtual Result<uint64_t> doSubmit(CommandList &list) = 0;
  virtual Result<bool> doWait(uint64_t ticket, uint64_t timeoutNs) = 0;
  virtual Result<uint64_t> doCompleted() = 0;

  /// Makes the first dispatch of kernels that were just made as fast as the others.
  virtual Status doWarmUp(std::span<const std::unique_ptr<Kernel>>) { return {}; }

  // What a backend may lack. These are called only where info() says that it has them. (Inline, so
  // that no object file owns the class's type: tests derive from it with RTTI.)
  virtual Status doMemoryBudgets(std::span<MemoryBudget>) { return lacks("memory budgets"); }
  virtual Result<ClockReading> doReadClocks() { return lacks("calibrated clocks"); }
  virtual Result<std::unique_ptr<Memory>> doReserve(uint64_t) { return lacks("ranges"); }
  /// One driver allocation bound to the range; the token stands for it.
  virtual Result<uint64_t> doCommit(Memory &, uint64_t /*offset*/, uint64_t /*size*/) {
    return lacks("ranges");
  }
  virtual Status doDecommit(Memory &, uint64_t /*offset*/, uint64_t /*size*/) {
    return lacks("ranges");
  }
  /// Frees an allocation of which nothing is bound any more.
  virtual void doRelease(Memory &, uint64_t /*token*/) {}
  virtual Result<std::unique_ptr<Memory>> doImport(const ImportSource &) {
    return lacks("external memory");
  }
  virtual Result<int> doExport(Memory &) { return lacks("external memory"); }

  Status lacks(const char *what) const;
  static const Status &statusOf(const Status &status) { return status; }
  template <typename T> static const Status &statusOf(const Result<T> &made) {
    return made.status();
  }
  /// What a driver call returned; a loss is remembered.
  template <typename T> T noted(T made) {
    if (statusOf(made).code() == StatusCode::kDeviceLost)
      markLost();
    return made;
  }
  Status checkPart(const char *what, const Memory &range, uint64_t offset, uint64_t size) const;
  Result<std::unique_ptr<Memory>> own(Result<std::unique_ptr<Memory>> memory) const;

  static uint32_t nextNumber();
  const uint32_t number_ = nextNumber();
  std::atomic<bool> lost_ = false;
  std::atomic<uint64_t> lastTicket_ = 0;
  std::array<std::atomic<uint64_t>, kMaxMemoryHeaps> allocatedBytes_{};
};

/// Why the device cannot take this kernel, with the numbers; ok if it can.
Status checkKernel(const KernelSource &source, const DeviceProfile &profile);

} // namespace gantry::device

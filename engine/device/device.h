// The driver interface: the functions that the engine requires from a backend. They are the only
// virtual functions of the engine.
//
// A backend supplies memory, kernels, command lists and one queue with a monotonic timeline. Its
// callers, engine/heap and engine/program, make all decisions: memory layout, barriers, and which
// of several kernels for the same work runs. Public functions check their arguments and then call
// the private do... functions, which a backend implements, so a backend receives only arguments
// that passed the checks.
//
// The interface does not suballocate (one Memory is one driver allocation; engine/heap
// suballocates), does not count references, and does not track hazards: the caller places barriers.
//
// Errors: kInvalidArgument for wrong arguments, kOutOfMemory if the driver or the host has no
// memory left or an allocation exceeds profile().maxAllocationBytes, kUnsupported if the device
// lacks an ability or a kernel exceeds its limits. Allocating, reserving, committing and freeing
// use no exceptions, so they survive a host without memory and leak nothing. After a call has found
// that the device is lost, every call of the device and of its command lists returns kDeviceLost at
// once; all objects can still be destroyed.
//
// Ownership: memories, kernels and command lists keep their device alive. The caller keeps
// memories, kernels and command lists alive until the submissions that use them are done.
// Threads: a Device may be used from several threads. A Memory, Kernel or CommandList is used by
// one thread at a time.
// Units: bytes and nanoseconds.
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

/// Support for address ranges whose storage is committed in parts (Device::reserve).
struct VirtualMemoryInfo {
  bool supported = false;
  uint64_t granularityBytes = 0; // Offsets and sizes of commits are multiples of this power of two.
  uint64_t maxRangeBytes = 0;
};

/// Support for memory that is shared with other APIs or processes.
struct ExternalMemoryInfo {
  uint64_t hostPointerAlignmentBytes = 0; // 0: host pointers cannot be imported.
  bool opaqueFds = false;                 // Memory can be exported and imported as descriptors.
};

/// The description of a device. A backend fills it once; it does not change.
struct DeviceInfo {
  uint32_t index = 0; // Position in the backend's order of preference.
  std::string name;
  std::string driver;
  std::string backend;    // "vulkan"
  std::string apiVersion; // "1.3.230"
  DeviceKind kind = DeviceKind::kDiscrete;
  bool unifiedMemory = false;              // The host can map the largest device-local heap.
  bool timestamps = false;                 // The queue supports timestamps.
  bool calibratedClocks = false;           // readClocks() is supported.
  std::string missing;                     // Requirements that the device lacks; "": usable.
  uint64_t memoryBytes = 0;                // Size of the largest device-local heap.
  std::vector<MemoryHeapInfo> memoryHeaps; // At most kMaxMemoryHeaps.
  std::vector<MemoryTypeInfo> memoryTypes; // At most kMaxMemoryTypes.
  MemoryKindTable memoryKinds;             // chooseMemoryTypes(memoryHeaps, memoryTypes).
  bool memoryPriorities = false;           // AllocateOptions::priority has an effect.
  bool memoryBudgets = false;              // memoryBudgets() returns the driver's figures.
  VirtualMemoryInfo virtualMemory;
  ExternalMemoryInfo external;
  DeviceProfile profile;

  /// The alignment in bytes that allows a buffer to be bound in every BindingMode (command_list.h).
  uint64_t bindingAlignment() const {
    const uint64_t texels = profile.maxTexelBufferElements > 0 ? profile.texelBufferAlignment : 1;
    return std::max(profile.storageBufferAlignment, texels);
  }
};

/// Two clocks read at one moment: the system's monotonic clock and the clock of the device's
/// timestamps (CommandList::deviceTimesNs).
struct ClockReading {
  uint64_t hostNs = 0;
  uint64_t deviceNs = 0;
  uint64_t errorNs = 0; // Upper limit of the time between the two readings.
};

/// One GPU or software device. Backends derive from it.
class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceInfo &info() const { return info_; }
  const DeviceProfile &profile() const { return info_.profile; }
  /// The number of the device in traces: 1, 2, 3 … in the order in which the process created its
  /// devices.
  uint32_t number() const { return number_; }

  /// Makes one driver allocation of 1 to profile().maxAllocationBytes bytes.
  Result<std::unique_ptr<Memory>> allocate(MemoryKind kind, uint64_t sizeBytes,
                                           const AllocateOptions &options = {});

  /// Fills one element per heap of info().memoryHeaps; the span must have that length. If the
  /// driver reports no budgets (info().memoryBudgets is false), the budget is 0.8 of the heap's
  /// size, and the bytes in use are those that this device object has allocated.
  Status memoryBudgets(std::span<MemoryBudget> perHeap);

  /// Reserves a range of device addresses without storage. The kind must be kDevice; the size is 1
  /// to info().virtualMemory.maxRangeBytes bytes and is rounded up to the granularity. Returns
  /// kUnsupported if the device lacks virtual memory.
  Result<std::unique_ptr<Memory>> reserve(MemoryKind kind, uint64_t rangeBytes);
  /// Backs [offset, offset + size) of a range with one driver allocation, whose contents are
  /// undefined. Offset and size must be multiples of the granularity, and no byte of the part may
  /// have storage already. Later submissions can use the storage.
  Status commit(Memory &range, uint64_t offsetBytes, uint64_t sizeBytes);
  /// Removes the storage of [offset, offset + size). Every byte of this part must have storage, and
  /// no running submission may use it. A driver allocation is freed when none of its bytes backs
  /// the range any more.
  Status decommit(Memory &range, uint64_t offsetBytes, uint64_t sizeBytes);

  /// Makes a Memory from existing memory. Returns kUnsupported if the device cannot import memory
  /// of that type.
  Result<std::unique_ptr<Memory>> importMemory(const ImportSource &source);
  /// Returns a file descriptor of a memory that was allocated with AllocateOptions::exportable. The
  /// caller owns the descriptor.
  Result<int> exportMemory(Memory &memory);

  /// Compiles kernels in parallel and warms them up, so that their first dispatch is as fast as the
  /// later ones. cachePath names a file that keeps compiled kernels between processes; nullopt
  /// means a file in the user's cache folder, "" means no file. A file that is damaged or was
  /// written for another device is replaced. A file that cannot be written is not an error.
  Result<std::vector<std::unique_ptr<Kernel>>>
  createKernels(std::span<const KernelSource> sources, const std::optional<std::string> &cachePath);

  Result<std::unique_ptr<CommandList>> createCommandList();

  /// Submits an ended list, which starts after all earlier submissions have finished. Returns its
  /// ticket for wait(). Tickets are 1, 2, 3 … in the order of submission.
  Result<uint64_t> submit(CommandList &list);

  /// Waits for a submission. Returns true when it is done, and false if timeoutNs passed first
  /// (UINT64_MAX: no timeout).
  Result<bool> wait(uint64_t ticket, uint64_t timeoutNs);

  /// Returns the newest ticket that is done, without waiting; 0 if none is. All earlier tickets are
  /// done as well.
  Result<uint64_t> completed();

  /// Reads both clocks through the driver, without a submission. Returns kUnsupported if
  /// info().calibratedClocks is false.
  Result<ClockReading> readClocks();

  /// Returns whether an earlier call has found that the device is lost.
  bool isLost() const { return lost_.load(std::memory_order_acquire); }

  /// The number of warnings and errors from validation layers so far; 0 without validation layers.
  virtual uint64_t validationMessages() const { return 0; }

protected:
  Device() = default;
  /// The status that every call returns after the device was lost.
  Status lostStatus() const;
  void markLost() { lost_.store(true, std::memory_order_release); }
  /// A status whose short message std::string stores inline, without allocating host memory.
  static Status noHostMemory() { return {StatusCode::kOutOfMemory, "no host memory"}; }
  /// Adds to the bytes in use of a memory heap, which memoryBudgets() returns if the driver reports
  /// no budgets. In that case the function also logs a warning when the bytes in use first exceed
  /// the estimated budget. engine/heap enforces the budgets that a driver reports.
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

  /// Warms up new kernels, so that their first dispatch is as fast as later ones.
  virtual Status doWarmUp(std::span<const std::unique_ptr<Kernel>>) { return {}; }

  // Optional functions of a backend; they are called only if info() says that they are supported.
  // All virtual functions are pure or inline, so each object file that needs the class's vtable and
  // type information emits them itself. Tests that derive from Device are compiled with RTTI and
  // need the type information, which the engine's object files, compiled without RTTI, do not have.
  virtual Status doMemoryBudgets(std::span<MemoryBudget>) { return lacks("memory budgets"); }
  virtual Result<ClockReading> doReadClocks() { return lacks("calibrated clocks"); }
  virtual Result<std::unique_ptr<Memory>> doReserve(uint64_t) { return lacks("ranges"); }
  /// Makes one driver allocation, binds it to the range, and returns a token for doRelease().
  virtual Result<uint64_t> doCommit(Memory &, uint64_t /*offset*/, uint64_t /*size*/) {
    return lacks("ranges");
  }
  virtual Status doDecommit(Memory &, uint64_t /*offset*/, uint64_t /*size*/) {
    return lacks("ranges");
  }
  /// Frees the allocation `token` of the range; doDecommit() has unbound the last part of it.
  virtual void doRelease(Memory &, uint64_t /*token*/) {}
  virtual Result<std::unique_ptr<Memory>> doImport(const ImportSource &) {
    return lacks("external memory");
  }
  virtual Result<int> doExport(Memory &) { return lacks("external memory"); }

  Status lacks(const char *what) const;
  static StatusCode codeOf(const Status &status) { return status.code(); }
  template <typename T> static StatusCode codeOf(const Result<T> &made) {
    return made.status().code();
  }
  /// Returns the result of a driver call unchanged, and marks the device as lost if the result says
  /// so.
  template <typename T> T noted(T made) {
    if (codeOf(made) == StatusCode::kDeviceLost)
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

/// Returns kUnsupported with the limit that the kernel exceeds, or ok if the device can run it.
Status checkKernel(const KernelSource &source, const DeviceProfile &profile);

} // namespace gantry::device

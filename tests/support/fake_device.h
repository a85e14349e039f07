// FakeDevice: a device for tests, in host memory.
//
// Kernels are host functions. A submission runs inside submit(), or when the test releases it.
// Tests inject faults: the k-th allocation or call fails, or the device is lost. The device counts
// and describes misuse that is undefined behaviour on a real driver ("violations"): memory that is
// freed while a submission uses it, access to bytes of a reserved address range that have no
// storage, and wrong use of pending command lists.
//
// The device does not model speed or caches. Barriers have no effect, because commands run in the
// order of their recording.
//
// Memory is mapped from the system and not touched, so a slab of many GiB uses no host memory until
// it is written. Allocating, recording copies, fills, updates and dispatches, submitting, and
// freeing do not throw if host memory is exhausted, like a driver.
//
// Thread safety: the rules of engine/device/device.h apply. The functions for tests may be called
// at any time from any thread.
#pragma once

#include "engine/device/device.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

namespace gantry::test {

/// The arguments of a kernel: its buffers in order, its dynamic sizes (dims), the number of
/// workgroups and the id of the first workgroup.
struct HostKernelCall {
  std::span<const std::span<uint8_t>> buffers;
  std::span<const uint64_t> dims;
  uint32_t workgroups[3], firstWorkgroup[3];
};
using HostKernel = std::function<void(const HostKernelCall &)>;

struct FakeConfig {
  /// The default is a discrete GPU with 8 GiB of device memory, 16 GiB of host memory, and a
  /// host-visible window of 256 MiB into device memory.
  std::vector<device::MemoryHeapInfo> heaps = {
      {uint64_t{8} << 30, true}, {uint64_t{16} << 30, false}, {uint64_t{256} << 20, true}};
  std::vector<device::MemoryTypeInfo> types = {{0, true, false, false, false},
                                               {1, false, true, true, false},
                                               {1, false, true, true, true},
                                               {2, true, true, true, false}};
  bool memoryBudgets = true;   // If false, memoryBudgets() returns the estimate of device.h.
  bool virtualMemory = true;   // Whether address ranges can be reserved and committed.
  bool externalMemory = true;  // Whether memory can be imported and exported.
  bool enforceHeapSize = true; // Allocations beyond a heap's size fail with kOutOfMemory.
  uint64_t granularityBytes = 65536;
  uint64_t maxAllocationBytes = uint64_t{4} << 30;
  bool preferTexelLoads = false;
  uint64_t maxTexelBufferElements = 65536;
  /// The kernels by name. createKernels refuses a kernel without an entry.
  std::map<std::string, HostKernel, std::less<>> kernels;
};

/// Numbers of calls since the device was created, and of live objects.
struct FakeCounts {
  uint64_t driverCalls = 0;    // Calls of any kind that reached the driver.
  uint64_t allocations = 0;    // Successful allocations and commits.
  uint64_t frees = 0;          // Driver allocations that were freed.
  uint64_t submissions = 0;    // Accepted submissions.
  uint64_t waits = 0;          // Calls of wait() that reached the driver.
  uint64_t copiedBytes = 0;    // Bytes copied by commands that have run.
  uint64_t liveMemories = 0;   // Memory objects.
  uint64_t liveKernels = 0;    // Kernel objects.
  uint64_t liveLists = 0;      // CommandList objects.
  uint64_t liveBytes = 0;      // Bytes of driver allocations.
  uint64_t peakBytes = 0;      // Max of liveBytes.
  uint64_t liveRangeBytes = 0; // Bytes of reserved addresses.
};

class FakeMemory;
class FakeList;

class FakeDevice final : public device::Device {
public:
  static std::shared_ptr<FakeDevice> create(FakeConfig config = {});
  ~FakeDevice() override;

  // ---- faults: k counts calls from 1, starting now; 0 cancels the fault ------------------------
  /// The k-th driver allocation (allocate, reserve, commit, import) fails with kOutOfMemory.
  void failAllocation(uint64_t k) { allocationFault_ = k; }
  /// The k-th driver call of any kind fails with this code. If `again` is not 0, the `again`-th
  /// call after that call fails too.
  void failCall(uint64_t k, StatusCode code = StatusCode::kOutOfMemory, uint64_t again = 0);
  /// The k-th submission loses the device and returns kDeviceLost.
  void loseAtSubmission(uint64_t k) { submissionFault_ = k; }
  /// Loses the device now. A thread inside wait() returns.
  void lose();

  // ---- delays -----------------------------------------------------------------------------------
  /// Keeps submissions pending until release().
  void hold();
  /// Runs the next `count` pending submissions; later ones stay pending.
  void release(uint64_t count);
  /// Runs all pending submissions. Later submissions run inside submit() again.
  void release();

  // ---- state that tests set and read ------------------------------------------------------------
  /// Sets the budget that the driver reports for a heap. By default the budget is the heap's size.
  void setBudget(uint32_t heap, uint64_t budgetBytes) { budgets_[heap] = budgetBytes; }
  /// Sets the number of bytes of a heap that another process uses. Allocations cannot use them.
  void setForeignUse(uint32_t heap, uint64_t bytes) { foreign_[heap] = bytes; }
  FakeCounts counts() const;
  uint64_t liveBytes(uint32_t heap) const { return live_[heap].load(); }
  /// Return the number of violations so far, and the description of the last one ("" if none).
  uint64_t violations() const { return violations_.load(); }
  const char *lastViolation() const { return lastViolation_.load(); }
  /// Returns the bytes of any memory of a fake device, including memory that is not mapped.
  static uint8_t *bytesOf(device::Memory &memory);

private:
  friend class FakeMemory;
  friend class FakeKernel;
  friend class FakeList;
  explicit FakeDevice(FakeConfig config);
  std::shared_ptr<FakeDevice> self() {
    return std::static_pointer_cast<FakeDevice>(shared_from_this());
  }
  /// Both functions count a driver call, and fail if an injected fault applies to the call.
  Status call();
  Status allocationCall();
  Result<std::unique_ptr<FakeMemory>> make(device::MemoryKind kind, uint64_t sizeBytes);
  bool take(uint32_t heap, uint64_t bytes);
  void give(uint32_t heap, uint64_t bytes);
  void violate(const char *what);
  void runNext(); // Called with mutex_ locked.
  void memoryDies(const FakeMemory &memory);

  Result<std::unique_ptr<device::Memory>>
  doAllocate(device::MemoryKind kind, uint64_t sizeBytes,
             const device::AllocateOptions &options) override;
  Result<std::vector<std::unique_ptr<device::Kernel>>>
  doCreateKernels(std::span<const device::KernelSource> sources,
                  const std::optional<std::string> &cachePath) override;
  Result<std::unique_ptr<device::CommandList>> doCreateCommandList() override;
  Result<uint64_t> doSubmit(device::CommandList &list) override;
  Result<bool> doWait(uint64_t ticket, uint64_t timeoutNs) override;
  Result<uint64_t> doCompleted() override;
  Status doMemoryBudgets(std::span<device::MemoryBudget> perHeap) override;
  Result<std::unique_ptr<device::Memory>> doReserve(uint64_t rangeBytes) override;
  Result<uint64_t> doCommit(device::Memory &range, uint64_t offset, uint64_t size) override;
  Status doDecommit(device::Memory &range, uint64_t offset, uint64_t size) override;
  void doRelease(device::Memory &range, uint64_t token) override;
  Result<std::unique_ptr<device::Memory>> doImport(const device::ImportSource &source) override;
  Result<int> doExport(device::Memory &memory) override;

  FakeConfig config_;
  std::atomic<uint64_t> allocationFault_ = 0, callFault_ = 0, secondFault_ = 0,
                        submissionFault_ = 0;
  std::atomic<StatusCode> callCode_ = StatusCode::kOutOfMemory;
  std::array<std::atomic<uint64_t>, device::kMaxMemoryHeaps> budgets_{}, foreign_{}, live_{};
  std::atomic<uint64_t> driverCalls_ = 0, allocations_ = 0, frees_ = 0, waits_ = 0,
                        copiedBytes_ = 0, liveMemories_ = 0, liveKernels_ = 0, liveLists_ = 0,
                        liveBytes_ = 0, peakBytes_ = 0, rangeBytes_ = 0, violations_ = 0;
  std::atomic<const char *> lastViolation_ = "";

  mutable std::mutex mutex_; // Protects the members below.
  std::condition_variable moved_;
  bool held_ = false;
  FakeList *pending_ = nullptr; // The oldest pending list; each list points to the next.
  FakeList *newest_ = nullptr;
  uint64_t submitted_ = 0, completed_ = 0;
  uint64_t clockNs_ = 0;
};

} // namespace gantry::test

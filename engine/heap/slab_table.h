// The slabs (driver allocations) of a heap, and the checks of budgets and of the user's limits.
//
// This is the only part of the heap's core that calls the driver for memory. It records to which
// arena and which of its pools (arena.h) each slab belongs. The pool's Tlsf records the ranges
// within the slab.
// Ownership: the table owns the driver allocations. Units: bytes.
// Threads: allocate(), free(), retention() and loops over all slabs require the growth lock
// (growth.h). A thread may read the entry of one slab without that lock while a buffer in this slab
// is live and cannot move. Limits, byte counts, traceBudgets() and the driver's message are for any
// thread.
// Errors: HeapCode; the message of a failed driver call is kept for copyDriverMessage().
#pragma once

#include "engine/device/device.h"
#include "engine/heap/counters.h"
#include "engine/heap/heap_events.h"
#include "engine/base/lock.h"
#include "engine/heap/retention.h"

#include <array>
#include <memory>

namespace gantry::heap {

class Arena;

struct Slab {
  device::Memory *memory; // nullptr: the slab's number is unused.
  uint64_t address;       // Memory::address(): 0 on devices without buffer addresses.
  uint8_t *mapped;        // Memory::mapped().
  uint64_t sizeBytes;
  Arena *arena;        // The arena whose pool contains the slab.
  uint32_t deviceHeap; // Index in DeviceInfo::memoryHeaps.
  uint8_t kind;        // MemoryKind.
  uint8_t pool;        // PoolIndex.
  bool dedicated;      // The slab holds at most one buffer.
};

class SlabTable {
public:
  SlabTable(const HostAllocator &host, std::shared_ptr<device::Device> device,
            std::span<const uint64_t> limits, std::span<KindTotals, kMemoryKinds> totals,
            HeapEvents &events);
  ~SlabTable();

  device::Device &device() const { return *device_; }
  /// The maximum size of a buffer.
  uint64_t maxBufferBytes() const { return maxBufferBytes_; }

  /// Allocates a slab if the device's budget and the user's limit allow it, and writes its number
  /// to *slab. The slab is in no pool yet. priority: AllocateOptions::priority.
  HeapCode allocate(MemoryKind kind, uint64_t sizeBytes, float priority, bool dedicated,
                    uint32_t *slab);
  /// Frees a slab that is in no pool.
  void free(uint32_t slab);

  Slab &operator[](uint32_t slab) { return slabs_[slab]; }
  const Slab &operator[](uint32_t slab) const { return slabs_[slab]; }
  /// All slab numbers are below the result; some numbers below it may be unused at present.
  uint32_t count() const { return count_; }

  /// The state of the policy that decides how many bytes of empty slabs of a memory kind are kept
  /// (retention.h).
  Retention &retention(uint32_t kind) { return retention_[kind]; }

  void setLimit(uint32_t deviceHeap, uint64_t bytes) { limits_[deviceHeap].store(bytes); }
  uint64_t limit(uint32_t deviceHeap) const { return limits_[deviceHeap].load(); }
  uint64_t reservedBytes(uint32_t deviceHeap) const { return reserved_[deviceHeap].load(); }
  uint64_t driverAllocations() const { return driverAllocations_.load(); }
  uint64_t driverFrees() const { return driverFrees_.load(); }

  /// Records the present budgets in the trace, if recording is on.
  void traceBudgets() const;
  /// Returns the code for the status of a failed driver call, and keeps its message.
  HeapCode codeOf(const Status &status);
  /// Copies the message of the last failed driver call; "" if none has failed.
  void copyDriverMessage(std::span<char> text) const;

private:
  HeapCode checkBudget(MemoryKind kind, uint64_t sizeBytes);
  uint32_t unusedNumber();

  std::shared_ptr<device::Device> device_;
  uint64_t maxBufferBytes_;
  HeapEvents &events_;
  std::span<KindTotals, kMemoryKinds> totals_;
  SegmentedArray<Slab> slabs_;
  uint32_t count_ = 0;
  uint32_t unused_ = 0; // How many numbers below count_ are unused.
  std::array<Retention, kMemoryKinds> retention_;
  std::array<std::atomic<uint64_t>, device::kMaxMemoryHeaps> reserved_{};
  std::array<std::atomic<uint64_t>, device::kMaxMemoryHeaps> limits_{};
  std::atomic<uint64_t> driverAllocations_{0};
  std::atomic<uint64_t> driverFrees_{0};
  mutable Lock messageLock_;
  char message_[256] = "";
};

} // namespace gantry::heap

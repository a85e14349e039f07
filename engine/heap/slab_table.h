// The slabs of a heap: driver allocations, and what they cost against the budgets.
//
// This is the only part of the heap that asks the driver for memory. It knows which arena and pool
// a slab belongs to, and nothing of what lies in it.
// Ownership: the table owns the driver allocations. Units: bytes.
// Threads: allocate(), free() and the walks need the growth lock. Whoever holds a block of a slab
// may read that slab.
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
  device::Memory *memory; // nullptr: the number is unused
  uint64_t address;
  uint8_t *mapped;
  uint64_t sizeBytes;
  Arena *arena; // Arena whose pool has the slab as a region.
  uint32_t deviceHeap;
  uint8_t kind;
  uint8_t pool; // PoolIndex
  bool dedicated;
};

class SlabTable {
public:
  SlabTable(const HostAllocator &host, std::shared_ptr<device::Device> device,
            std::span<const uint64_t> limits, std::span<KindTotals, kMemoryKinds> totals,
            HeapEvents &events);
  ~SlabTable();

  device::Device &device() const { return *device_; }
  /// No buffer can be larger.
  uint64_t maxBufferBytes() const { return maxBufferBytes_; }

  /// Takes a slab from the driver, within the device's budget and the user's limit.
  HeapCode allocate(MemoryKind kind, uint64_t sizeBytes, float priority, bool dedicated,
                    uint32_t *slab);
  /// Gives a slab back that no pool has as a region.
  void free(uint32_t slab);

  Slab &operator[](uint32_t slab) { return slabs_[slab]; }
  const Slab &operator[](uint32_t slab) const { return slabs_[slab]; }
  /// Numbers below it were used once.
  uint32_t count() const { return count_; }

  /// Whether a kind keeps memory or gives it back.
  Retention &retention(uint32_t kind) { return retention_[kind]; }

  void setLimit(uint32_t deviceHeap, uint64_t bytes) { limits_[deviceHeap].store(bytes); }
  uint64_t limit(uint32_t deviceHeap) const { return limits_[deviceHeap].load(); }
  uint64_t reservedBytes(uint32_t deviceHeap) const { return reserved_[deviceHeap].load(); }
  uint64_t driverAllocations() const { return driverAllocations_.load(); }
  uint64_t driverFrees() const { return driverFrees_.load(); }

  /// Tells viewers the budgets of this moment.
  void traceBudgets() const;
  /// Keeps the message of a driver's refusal and returns its code.
  HeapCode codeOf(const Status &status);
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
  uint32_t unused_ = 0; // numbers below count_
  std::array<Retention, kMemoryKinds> retention_;
  std::array<std::atomic<uint64_t>, device::kMaxMemoryHeaps> reserved_{};
  std::array<std::atomic<uint64_t>, device::kMaxMemoryHeaps> limits_{};
  std::atomic<uint64_t> driverAllocations_{0};
  std::atomic<uint64_t> driverFrees_{0};
  mutable Lock messageLock_;
  char message_[256] = "";
};

} // namespace gantry::heap

// The unified memory manager of a device: who holds which byte, and why.
//
// A buffer is a reference-counted range of a slab (one driver allocation), named by a 64-bit handle
// that knows its generation: releasing twice, using what was released, or another heap's handle is
// an error code, never a crash. All memory of a device, whichever backend, goes through one heap.
//
// What it is not: no hazard tracking and no command recording (the caller's work), no images, no
// planning of a program's transients (engine/plan; StepPlan beside this file uses it for loops).
//
// How it works, from the top:
//   magazine   per thread: freed ranges up to 64 KiB by exact size, no lock, no shared cache line
//   pool       per memory kind, for small and for large sizes, four of each (shards): a TLSF
//              (tlsf.h) over slabs, one lock. A thread keeps to one shard; before the heap
//              passes its slack it looks into those of threads at rest, and for small buffers into
//              gaps between large ones; under pressure into all
//   slab       one driver allocation; sizes grow with what is reserved. Buffers of 20 MiB and more
//              that fit nowhere get one of their own. A heap that is filled again after an ebb
//              hands empty ones from pool to pool
//   driver     device::Device
// A released buffer whose GPU work may still run (`after`) waits as pending until its timeline
// points have passed; an allocation that is itself ordered after those points gets it at once.
// Freed blocks carry their points as in IREE's "death frontiers" (queue pools, 2026).
//
// Under pressure an allocation climbs a ladder: reuse -> wait for what is in flight -> trim ->
// compact -> spill (where allowed) -> refusal, with a report (writeReport). Nobody's data is lost.
//
// Ownership: the heap keeps its device alive. All buffers die with the heap, which waits for
// its own copies alone: the caller sees to it that the device is done with them. Threads: any, for
// every function, unless said otherwise. Callers keep a movable or spillable buffer pinned from the
// moment they take its placement until the work that uses it is submitted. Costs: see
// benchmarks/heap. Units: bytes.
#pragma once

#include "engine/base/status.h"
#include "engine/device/device.h"
#include "engine/heap/types.h"

#include <memory>
#include <string_view>

namespace gantry::heap {

class Heap;
struct HeapDeleter {
  void operator()(Heap *heap) const;
};
using HeapPtr = std::unique_ptr<Heap, HeapDeleter>;

class Heap {
public:
  /// Fails with kInvalidArgument (options) or kOutOfMemory (host). No driver call is made.
  static Result<HeapPtr> create(std::shared_ptr<device::Device> device, const HeapOptions &options);
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  device::Device &device() const;
  /// Which heap it is in traces.
  uint16_t traceId() const;

  // ---- buffers ---------------------------------------------------------------------------------

  /// A buffer with one reference. Contents are undefined. On failure *buffer is 0.
  HeapCode allocate(const BufferRequest &request, BufferHandle *buffer);

  /// One more reference.
  HeapCode retain(BufferHandle buffer);

  /// One reference less. With the last one the storage becomes free: at once, or when all points of
  /// `after` have passed. Never waits, never fails for want of memory.
  HeapCode release(BufferHandle buffer, std::span<const TimelinePoint> after = {});

  /// Where the buffer lies. kBusy where it is spilled (restore() it).
  HeapCode resolve(BufferHandle buffer, Placement *placement) const;

  /// While pinned, a buffer is neither moved nor spilled. Pins are counted. pin() restores a
  /// spilled buffer first, and may therefore fail as allocate() does.
  HeapCode pin(BufferHandle buffer, Placement *placement);
  HeapCode unpin(BufferHandle buffer);

  /// What a code means for this request, with its numbers and the remedy. Never kOk's status.
  Status explain(HeapCode code, const BufferRequest &request) const;

  // ---- time ------------------------------------------------------------------------------------

  /// A timeline of the caller's, beside the device's: its number (1 to 3), or 0 where all are
  /// taken.
  uint32_t addTimeline();
  /// All work up to `value` of that timeline is done.
  HeapCode advance(uint32_t timeline, uint64_t value);
  /// Asks the device what is done and frees what waited for it. Allocations do this by themselves
  /// when they need to; calling it once a step keeps ranges together. Never waits.
  HeapCode poll();

  // ---- retention -------------------------------------------------------------------------------

  /// Gives empty slabs back to the driver until keepBytes of them are left. The calling thread's
  /// magazines are emptied, other threads' when they next lack something. Returns the bytes given
  /// back.
  uint64_t trim(uint64_t keepBytes = 0);

  /// The user's limit for one of the device's heaps; UINT64_MAX for none. What is above it stays.
  HeapCode setLimit(uint32_t deviceHeap, uint64_t bytes);
  /// Tells viewers, if there are any, what the driver allows now: it also changes when other
  /// processes take memory, of which nobody tells.
  void traceBudgets() const;

  /// Moves at most maxBytes of movable, unpinned buffers, through the device, so that slabs become
  /// empty, and gives those back. It submits and does not wait: a slab goes back in a later call,
  /// when its copies have passed.
  HeapCode compact(uint64_t maxBytes, CompactResult *result = nullptr);

  /// Takes a spillable, unpinned buffer's contents to the host and frees its storage; waits for the
  /// device. kBusy where it is pinned.
  HeapCode spill(BufferHandle buffer);
  /// Brings a spilled buffer back; kOk where it is not spilled.
  HeapCode restore(BufferHandle buffer);

  // ---- names and statistics --------------------------------------------------------------------

  /// The same text gives the same name. Index 0 where the host has no memory or 65536 names exist.
  NameId intern(std::string_view name);
  void statistics(HeapStatistics *statistics) const;
  /// The `names.size()` largest holders by live bytes, largest first; returns how many were
  /// written.
  size_t names(std::span<NameStatistics> names) const;

  /// A report for people into `text` (always terminated): what is reserved, live and free per kind,
  /// fragmentation, largest free range, budgets, the largest holders. Returns its whole length.
  /// Needs no host memory.
  size_t writeReport(std::span<char> text) const;

  /// The driver's words at the last kDriver, kExhausted or kDeviceLost; "" before.
  size_t lastDriverMessage(std::span<char> text) const;

  /// Rechecks every invariant; nullptr, or what is broken. No other thread may use the heap.
  const char *validate() const;

protected:
  Heap() = default;
  ~Heap() = default;
};

/// A reference to a buffer that is given up with the object. Movable; copies retain.
class Buffer {
public:
  Buffer() = default;
  Buffer(Heap &heap, BufferHandle handle) : heap_(&heap), handle_(handle) {} // takes the reference
  Buffer(const Buffer &other) : heap_(other.heap_), handle_(other.handle_) {
    if (handle_)
      (void)heap_->retain(handle_);
  }
  Buffer(Buffer &&other) noexcept : heap_(other.heap_), handle_(other.handle_) {
    other.handle_ = {};
  }
  Buffer &operator=(Buffer other) noexcept {
    std::swap(heap_, other.heap_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Buffer() { reset(); }

  explicit operator bool() const { return static_cast<bool>(handle_); }
  BufferHandle handle() const { return handle_; }
  Heap *heap() const { return heap_; }
  /// Gives the reference up now; the storage is free when the points have passed.
  void reset(std::span<const TimelinePoint> after = {}) {
    if (handle_)
      (void)heap_->release(handle_, after);
    handle_ = {};
  }

private:
  Heap *heap_ = nullptr;
  BufferHandle handle_;
};

} // namespace gantry::heap

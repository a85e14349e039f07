// The unified memory manager of a device: who holds which byte, and why.
//
// A buffer is a reference-counted range of a slab (one driver allocation), identified by a 64-bit
// handle with a generation: releasing twice, using a released buffer, or another heap's handle is
// an error code, never a crash. All memory of a device goes through one heap.
//
// What it is not: no hazard tracking and no command recording, no images, no planning of a
// program's transients (engine/plan). Compaction, spilling, step plans, frame rings and growing
// arrays are clients of the heap, in engine/heap/extras.
//
// How it works, from the top. Allocation: check the request -> the thread's arena (arena.h): size
// classes, then the pool -> Growth (growth.h): other arenas, a new slab, the pressure ladder.
// Release: the buffer's arena: size classes, or the pool, or the pending releases while the GPU may
// still use the range. No data is ever lost under pressure: the last answer is a refusal.
//
// Ownership: the heap keeps its device alive. HeapPtr ends the heap with all of its buffers; the
// caller sees to it that the device is done with them. A heap given to shareHeap() lives until its
// last buffer is released. Threads: any, for every function, unless said otherwise. A movable or
// spillable buffer must be pinned from the moment its placement is taken until the work that uses
// it is submitted. Costs: see benchmarks/heap. Units: bytes.
#pragma once

#include "engine/base/status.h"
#include "engine/device/device.h"
#include "engine/heap/types.h"

#include <memory>
#include <string_view>
#include <utility>

namespace gantry::heap {

class Heap;
struct HeapParts;
struct HeapDeleter {
  void operator()(Heap *heap) const;
};
using HeapPtr = std::unique_ptr<Heap, HeapDeleter>;

/// A heap whose buffers keep it alive: when the last pointer is gone, it ends with its last buffer.
std::shared_ptr<Heap> shareHeap(HeapPtr heap);

class Heap {
public:
  /// Fails with kInvalidArgument (options) or kOutOfMemory (the host, or 255 heaps are alive). No
  /// driver call is made.
  static Result<HeapPtr> create(std::shared_ptr<device::Device> device, const HeapOptions &options);
  explicit Heap(HeapParts &parts) : parts_(parts) {} // use create()
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  /// The live heap that issued a handle; nullptr if there is none. It must not end meanwhile.
  static Heap *of(BufferHandle buffer);

  device::Device &device() const;
  /// The number of the heap in traces.
  uint16_t traceId() const;

  // ---- buffers ---------------------------------------------------------------------------------

  /// A buffer with one reference. Contents are undefined. On failure *buffer is 0.
  HeapCode allocate(const BufferRequest &request, BufferHandle *buffer);

  /// The same without growing: kExhausted if the thread's arena has no range. It makes no driver
  /// call and, once the request's name is known, asks only HeapOptions::host for memory.
  HeapCode allocateWithoutGrowth(const BufferRequest &request, BufferHandle *buffer);

  /// Returns kOk if allocate() accepts the request, whether or not there is memory for it.
  HeapCode check(const BufferRequest &request) const;

  /// Adds a reference.
  HeapCode retain(BufferHandle buffer);

  /// Gives a reference up. With the last one the storage becomes free: at once, or when all points
  /// of `after` have passed. Never waits, never fails for want of memory.
  HeapCode release(BufferHandle buffer, std::span<const TimelinePoint> after = {});

  /// Work up to this point may use the storage: after the last release it stays taken until then.
  HeapCode freeAfter(BufferHandle buffer, const TimelinePoint &point);

  /// Returns the place of the buffer. Returns kBusy if it is spilled; pin() brings it back.
  HeapCode resolve(BufferHandle buffer, Placement *placement) const;

  /// Whether the buffer has a reference left.
  bool isLive(BufferHandle buffer) const;

  /// While pinned, a buffer is neither moved nor spilled. Pins are counted. pin() restores a
  /// spilled buffer first, and may therefore fail as allocate() does.
  HeapCode pin(BufferHandle buffer, Placement *placement);
  HeapCode unpin(BufferHandle buffer);

  // ---- time ------------------------------------------------------------------------------------

  /// The number (1 to 3) of a new timeline of the caller's; 0 if all are taken.
  uint32_t addTimeline();
  /// All work up to `value` of that timeline is done.
  HeapCode advance(uint32_t timeline, uint64_t value);
  /// Asks the device what is done and frees what waited for it. Allocations do this themselves when
  /// they need to; calling it once a step keeps ranges together. Never waits.
  HeapCode poll();

  // ---- retention -------------------------------------------------------------------------------

  /// Gives empty slabs back to the driver until keepBytes of them are left; first the size classes
  /// of all threads go back to their pools. Returns the bytes given back.
  uint64_t trim(uint64_t keepBytes = 0);

  /// The user's limit for one of the device's heaps; UINT64_MAX for none. What is above it stays.
  HeapCode setLimit(uint32_t deviceHeap, uint64_t bytes);
  /// Tells viewers the budgets of this moment. They also change when other processes take memory.
  void traceBudgets() const;

  // ---- names and statistics --------------------------------------------------------------------

  /// The same text gives the same name. Index 0 if the host has no memory or 65,535 names exist.
  NameId intern(std::string_view name);
  /// The same, without a lock or a hash when the same text comes from the same address again.
  NameId intern(const char *name);
  /// The name that this address was interned with last, if its text is still the same; else index
  /// 0.
  NameId recall(const char *name) const;
  void statistics(HeapStatistics *statistics) const;
  /// The `names.size()` largest holders by live bytes, largest first; returns how many were
  /// written.
  size_t names(std::span<NameStatistics> names) const;

  /// The driver's message at its last refusal; "" before. Returns its length.
  size_t lastDriverMessage(std::span<char> text) const;

  /// The components, for engine/heap/extras and tests.
  HeapParts &parts() const { return parts_; }

private:
  void afterRelease(bool emptied, bool closing);
  HeapParts &parts_;
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
  /// Gives the reference to the caller.
  BufferHandle take() { return std::exchange(handle_, {}); }

private:
  Heap *heap_ = nullptr;
  BufferHandle handle_;
};

} // namespace gantry::heap

// The events that a heap sends to its observer and to engine/trace: allocations, releases, moves
// and slabs.
//
// Every event gets the next sequence number under the lock of this object, and is told while its
// range belongs to nobody else. So by sequence number no range is taken before it is given back.
// Events of buffers are told under the lock of their arena, events of slabs under the growth lock.
//
// A viewer that attaches late gets a snapshot of all live buffers (heap_snapshot.h). The snapshot
// holds the lock of every arena for a moment, so it is exact at one sequence number.
//
// Threads: any. isObserved() costs one load; nothing else runs while nobody listens.
#pragma once

#include "engine/base/lock.h"
#include "engine/heap/names.h"
#include "engine/heap/types.h"
#include "engine/trace/record/source.h"

namespace gantry::heap {

struct Slab;

class HeapEvents {
public:
  HeapEvents(const HeapObserver &observer, const Names &names);

  /// Whether anybody listens. A change is seen by every operation that takes an arena's lock after
  /// the snapshot did.
  bool isObserved() const { return observed_.load(std::memory_order_relaxed); }

  /// Tells of a buffer. place is as Tlsf::placeOf gives it, or kNoPlace.
  void buffer(HeapEvent::Type type, BufferHandle handle, uint64_t place, uint64_t sizeBytes,
              uint32_t name, uint8_t kind);
  void slab(HeapEvent::Type type, uint32_t index, const Slab &slab);

  /// For the snapshot and the heap's announcements.
  uint16_t traceId() const { return traceId_; }
  void setTraceId(uint16_t id) { traceId_ = id; }
  void listen(bool wanted);
  /// The number of the last event, and the ticks at which later events come. No arena may be
  /// unlocked.
  uint64_t sequenceNow(uint64_t *ticks);
  const Names &names() const { return names_; }

  static trace::SlabEvent slabEvent(trace::EventType type, uint64_t sequence, uint32_t index,
                                    const Slab &slab);

private:
  void recordBuffer(const HeapEvent &event);

  const HeapObserver observer_;
  const Names &names_;
  uint16_t traceId_ = 0;
  std::atomic<bool> observed_;
  Lock lock_; // guards what follows
  bool tracing_ = false;
  uint64_t sequence_ = 0;
  trace::TicksInOrder order_;
};

} // namespace gantry::heap

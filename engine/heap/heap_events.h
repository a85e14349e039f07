// The events that a heap sends to its observer (HeapObserver) and to the recorder engine/trace: for
// buffers, allocations, releases, moves, spills and restores; for slabs, allocations and frees.
//
// Every event gets the next sequence number under the lock of this object. An event of a buffer is
// sent under the lock of the buffer's arena, an event of a slab under the growth lock (growth.h),
// so no other thread can take or free the range meanwhile. In the order of sequence numbers, a
// range is therefore freed before it is allocated again.
//
// A viewer that attaches late gets a snapshot of all live buffers (heap_snapshot.h). The snapshot
// holds the lock of every arena, so it is the exact state after the event of one sequence number.
//
// Threads: any. While there is neither an observer nor a trace, the callers of buffer() and slab()
// only test isObserved(), which is one atomic load.
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

  /// Whether there is an observer or a trace. Callers send events only if this is true. A snapshot
  /// takes the lock of every arena after listen(true); every operation that takes such a lock later
  /// observes true.
  bool isObserved() const { return observed_.load(std::memory_order_relaxed); }

  /// Sends an event of a buffer. `place` is the result of Tlsf::placeOf, or kNoPlace for a buffer
  /// without storage.
  void buffer(HeapEvent::Type type, BufferHandle handle, uint64_t place, uint64_t sizeBytes,
              uint32_t name, uint8_t kind);
  /// Sends an event of a slab.
  void slab(HeapEvent::Type type, uint32_t index, const Slab &slab);

  // ---- for HeapSnapshot ------------------------------------------------------------------------

  /// The heap's number in traces.
  uint16_t traceId() const { return traceId_; }
  void setTraceId(uint16_t id) { traceId_ = id; }
  /// Switches the events to engine/trace on or off.
  void listen(bool wanted);
  /// Returns the sequence number of the last event, and writes a time of the trace clock to *ticks.
  /// All later events get later times. The caller holds the growth lock and the locks of all
  /// arenas.
  uint64_t sequenceNow(uint64_t *ticks);
  const Names &names() const { return names_; }

  /// Makes a trace event of a slab. The caller sets the heap's number in its header.
  static trace::SlabEvent slabEvent(trace::EventType type, uint64_t sequence, uint32_t index,
                                    const Slab &slab);

private:
  void recordBuffer(const HeapEvent &event);

  const HeapObserver observer_;
  const Names &names_;
  uint16_t traceId_ = 0;
  std::atomic<bool> observed_;
  Lock lock_; // Guards the members below.
  bool tracing_ = false;
  uint64_t sequence_ = 0;
  trace::TicksInOrder order_;
};

} // namespace gantry::heap

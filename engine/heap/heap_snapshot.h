// The snapshot of a heap for a viewer that attaches late: the device, the slabs, all live buffers
// and the totals. It describes the heap exactly as it is after one event, whose sequence number
// (heap_events.h) the snapshot contains.
//
// The snapshot takes the growth lock (growth.h), the lock of the arena table and the lock of every
// arena, and copies the live buffers. An operation changes an arena only under that arena's lock.
// An operation before the copy is therefore complete in the copy. An operation after the copy sends
// an event, because events are switched on before the copy.
//
// Cost: threads that allocate or release wait while the records are copied, about 5 ns per record.
// Memory: 32 bytes per buffer record of the heap, until the snapshot is recorded.
// Threads: the threads that create and destroy the heap call begin() and end(). engine/trace calls
// describe() on the thread that collects the recorded events, and listen() on the thread that
// switches recording on or off (engine/trace/record/source.h).
#pragma once

#include "engine/trace/record/source.h"

#include <cstdint>
#include <vector>

namespace gantry::heap {

struct HeapComponents;

class HeapSnapshot {
public:
  explicit HeapSnapshot(HeapComponents &components) : components_(components) {}

  /// Registers the heap with engine/trace, and records that the heap exists. The caller holds no
  /// lock of the heap.
  void begin();
  /// Removes the heap from engine/trace, and records its end. The caller holds no lock of the heap.
  void end();

private:
  /// A copy of the record of a live buffer. `place` is kNoPlace if the buffer has no storage.
  struct LiveBuffer {
    uint64_t handle;
    uint64_t place;
    uint64_t sizeBytes;
    uint32_t name;
    uint8_t kind;
  };
  /// The heap's state at the event number `sequence`; later events have times above `ticks`.
  struct Contents {
    std::vector<LiveBuffer> buffers;
    std::vector<trace::SlabEvent> slabs;
    std::vector<trace::HeapTotalsEvent> totals; // One per memory kind.
    uint64_t sequence = 0;
    uint64_t ticks = 0;
  };
  static void describe(void *user, trace::Describer &describer);
  static void listen(void *user, bool wanted);
  /// Adds the device and its memory heaps to the description, or records them as events if
  /// describer is nullptr.
  void recordDevice(trace::Describer *describer) const;
  /// Records that the heap begins or ends.
  void recordHeap(trace::EventType type) const;
  /// Adds the copied state to the description, without locks of the heap.
  void describeLive(trace::Describer &describer);
  /// Copies the state under the locks.
  void copyLive(Contents &contents);

  HeapComponents &components_;
  uint32_t name_ = 0;
  trace::Source source_;
};

} // namespace gantry::heap

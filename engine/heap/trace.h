// What a heap tells engine/trace, and how a viewer that attaches late learns what is alive.
//
// While somebody listens, HeapImpl::notify records every event under observerLock, where it gets
// its sequence number. A snapshot must be exact at one such number, although allocating and
// releasing take no lock:
//
//   The slots are walked in parts, each under observerLock, and every live one is noted. What
//   changes meanwhile tells so under the same lock, and corrects its note. When all are walked, the
//   notes are what is alive at the last number given. Two more rules make it exact. A thread that
//   looked whether somebody listens before that was so, may finish afterwards: allocating looks
//   when the slot is marked alive, and tells then, unless it has told; releasing marks it dead
//   before it looks. And after listening was switched on, a barrier is run through all threads
//   (engine/trace/collector.cpp), so whoever looks later sees it, and what others did before is
//   visible to the walk.
//
// So a block may be told twice, by the snapshot and by an event; its id says that it is the same.
// Slabs come and go, and buffers move, under the growth lock, which is held during the walk.
//
// Threads: see HeapImpl's locks. Memory: 40 bytes per slot, while a snapshot is taken.
#pragma once

#include "engine/heap/types.h"
#include "engine/trace/source.h"

#include <vector>

namespace gantry::heap {

struct HeapImpl;

class HeapTrace {
public:
  explicit HeapTrace(HeapImpl &heap) : heap_(heap) {}
  /// Announces the heap, and takes it back; without locks held.
  void begin();
  void end();

  uint16_t id() const { return id_; }
  /// Under observerLock, with the number just given.
  void record(const HeapEvent &event);
  /// What the driver allows now; without observerLock.
  void recordBudgets() const;

private:
  struct Note {
    uint64_t handle = 0;
    uint64_t place = 0;
    uint64_t sizeBytes = 0;
    uint32_t name = 0;
    uint8_t kind = 0;
    bool told = false; // by an event: the walk knows less
    bool live = false;
  };
  static void describe(void *user, trace::Describer &describer);
  static void listen(void *user, bool wanted);
  /// Hands the device and its memory heaps, as events, to `tell`.
  void tellDevice(trace::Describer *describer) const;
  void describeLive(trace::Describer &describer);
  void walk(uint32_t first, uint32_t last);
  void correct(const HeapEvent &event);
  Note &noteOf(uint32_t slot);
  uint32_t traceName(uint32_t name) const;

  HeapImpl &heap_;
  uint16_t id_ = 0;
  uint32_t name_ = 0;
  trace::Source source_;
  bool listening_ = false; // under observerLock, as what follows
  bool walking_ = false;
  trace::TicksInOrder order_;
  std::vector<Note> notes_;
};

} // namespace gantry::heap

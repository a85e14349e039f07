// The collector: one thread that empties the rings of all threads (ring.h), merges their events in
// the order of time, converts their times to nanoseconds and passes them to every sink: a file, a
// viewer or the flight recorder (wire/frame_sink.h).
//
// Order: each pass reads the current ticks W, then reads how far each ring is filled, and merges
// the events of all rings with times up to W minus a margin. The memory events of a heap are
// recorded under the heap's lock, so the earlier of two such events is in its ring before the
// thread of the later event reads the clock. The processor may read its counter a few nanoseconds
// early; the margin is much larger. A pass that merges the later event therefore also finds the
// earlier event, unless an earlier pass did. The times of a heap's memory events increase with
// their sequence numbers (TicksInOrder in record.h), so sinks receive these events in the order of
// their sequence numbers. Any other event may come some passes late, after later events, if its
// thread was interrupted between reading the clock and publishing the event.
//
// Overload: a slow sink blocks the collector. The rings then fill, and each thread drops events and
// counts them. The memory for events is therefore bounded by the number of threads times the ring
// size. If memory events were dropped, a new snapshot (SnapshotEvent in events.h) follows, after
// which viewers are exact again.
//
// Thread safety: any thread may call the public functions, but sinks and sources may not, because
// some of these functions wait for the collector's thread; the crash functions have a comment of
// their own. Sinks and sources (source.h) are called on the collector's thread. The thread runs
// only while a sink is attached.
#pragma once

#include "engine/trace/record/clock.h"
#include "engine/trace/wire/frame_sink.h"
#include "engine/trace/record/rings.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace gantry::trace {

/// A sink and its settings. The owner keeps it alive until detach() has returned, or until attach()
/// has returned an error.
struct AttachedSink {
  FrameSink sink;
  /// Time in nanoseconds. When it has passed since the last flush, the next pass flushes an
  /// incomplete chunk (the encoded events that wait in the sink, wire/codec.h).
  uint64_t flushNs = 0;
  /// Called on the collector's thread when the sink has failed. The collector does not use the sink
  /// afterwards. May be null.
  void (*failed)(void *user) = nullptr;
  /// isStale() and renew() are both set or both null. The collector's thread calls isStale() in
  /// every pass. If isStale() returns true, the collector flushes the sink, calls renew() and
  /// describes the current state again, as for a newly attached sink.
  bool (*isStale)(void *user) = nullptr;
  void (*renew)(void *user) = nullptr;
  void *user = nullptr;
  uint64_t lastFlushNs = 0;

  AttachedSink(const FrameSinkOptions &options, FrameSink::Write write, void *user)
      : sink(options, write, user), user(user) {}
};

class Collector {
public:
  /// Returns the collector of the process. The first call creates it; it is never destroyed.
  static Collector &instance();

  /// Attaches a sink, which receives a description of the current state and then all events.
  /// Returns after the description was added to the sink. Returns the sink's status if the sink has
  /// failed already, and kOutOfMemory if the collector's thread cannot be started; the sink is then
  /// not attached.
  Status attach(AttachedSink &sink);
  /// Passes all events recorded so far to the sink, flushes it and detaches it. Recording stops
  /// when the last sink is detached.
  void detach(AttachedSink &sink);
  /// Passes all events recorded so far to the sinks, takes a new snapshot if memory events were
  /// dropped, and flushes the sinks.
  void flush();

  /// Wakes the collector because a thread's ring is more than half full. Does not wait. Any thread
  /// may call it.
  void nudge() {
    if (!crashing_.load(std::memory_order_relaxed))
      wake_.notify_one();
  }

  /// Crash functions, for the thread that received a fatal signal. They take no lock and allocate
  /// no memory. pauseForCrash() stops the collector's thread after its current pass. It returns
  /// false if that did not happen within patienceNs, or if the collector's own thread crashed.
  /// takeForCrash() passes the recorded events of all threads to this sink alone, and
  /// markForCrash() adds a mark of the calling thread; both need a successful pause.
  /// resumeAfterCrash() lets the collector continue.
  bool pauseForCrash(uint64_t patienceNs);
  void takeForCrash(AttachedSink &sink);
  void markForCrash(AttachedSink &sink, uint32_t name, int64_t value);
  void resumeAfterCrash();

private:
  friend class Describer;
  Collector() = default;
  void run();
  void start();
  void stop();
  void becomeBusy();
  /// Adds a description of the current state to these sinks.
  void describe(const std::vector<AttachedSink *> &sinks);
  void renewStale();
  void pass(bool whole);
  void mergeUpTo(uint64_t ticks);
  void mergeRings(uint64_t ticks);
  void emitRun(detail::ThreadRing &thread, uint64_t untilTicks);
  void announce(detail::ThreadRing &thread, uint64_t timeNs);
  void emit(const EventHeader *event) {
    for (AttachedSink *sink : sinks_)
      sink->sink.add(event);
  }
  void emitToDescribed(const EventHeader *event) {
    for (AttachedSink *sink : described_)
      sink->sink.add(event);
  }
  void reportDrops(detail::ThreadRing &thread);
  void flushSinks(bool all);
  bool removeFailed();

  std::mutex mutex_; // Protects the members up to running_.
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<AttachedSink *> joining_;
  std::vector<AttachedSink *> leaving_;
  bool flushWanted_ = false;
  bool running_ = false;

  // Only the collector's thread uses the following members, or the thread of a crash while the
  // collector waits.
  std::vector<AttachedSink *> sinks_;
  std::vector<AttachedSink *> described_; // The sinks that the current description is for.
  std::vector<detail::ThreadRing *> rings_;
  TickClock clock_;
  uint64_t wallClockNs_ = 0;
  bool memoryDropped_ = false;
  uint64_t lastSnapshotNs_ = 0;
  uint64_t reportedLate_ = 0;
  uint64_t passEvents_ = 0; // Number of events in the last pass.

  // Shared with a crashing thread.
  std::atomic<bool> busy_{false};
  std::atomic<bool> crashing_{false};
  std::vector<AttachedSink *> crashSinks_ = std::vector<AttachedSink *>(1);
};

} // namespace gantry::trace

// The thread that empties the rings: it puts the events of all threads in order, gives them their
// times and hands them to every sink.
//
// Order: the collector notes the ticks W, then reads how far each ring is filled, and merges by
// time what lies up to W, less a margin. Events of one heap are recorded under its lock, so of two
// of them the earlier is in its ring before the later takes its time, or at most as long after that
// as a processor runs ahead of itself, which is much less than the margin. Hence either both are
// found, or the earlier alone, or the later has a time beyond W and waits for the next pass. So the
// order of their times, which is that of their sequence numbers (TicksInOrder), is exact. An event
// of another kind whose thread was interrupted between taking the time and publishing may come one
// pass late.
//
// Overload: a sink that cannot keep up stops the collector; the rings fill, and each thread drops
// and counts. So memory is bounded by the rings' size times the threads, and the count is exact.
// Where events of a heap were dropped, a new snapshot follows, so that viewers are exact again.
//
// Threads: the functions may be called from any thread; sinks are called on the collector's.
#pragma once

#include "engine/trace/clock.h"
#include "engine/trace/frame_sink.h"
#include "engine/trace/rings.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace gantry::trace {

/// A sink of the collector's, for as long as it is there. Its owner outlives it.
struct AttachedSink {
  FrameSink sink;
  /// Frames go out after this time at the latest, full or not.
  uint64_t flushNs = 0;
  /// Called on the collector's thread when the sink has failed; it is not used any more then.
  void (*failed)(void *user) = nullptr;
  /// May be null. Asked on the collector's thread, again and again: true where the sink wants to
  /// be told anew what there is, as if it had just been attached. It is flushed then, renew() is
  /// called, and the description follows.
  bool (*isStale)(void *user) = nullptr;
  void (*renew)(void *user) = nullptr;
  void *user = nullptr;
  uint64_t lastFlushNs = 0;

  AttachedSink(const FrameSinkOptions &options, FrameSink::Write write, void *user)
      : sink(options, write, user), user(user) {}
};

class Collector {
public:
  /// The process's own; made at the first call, lives to the end.
  static Collector &instance();

  /// Everything that is there already goes to all sinks, then what happens. Returns when the first
  /// of it is on its way. kOutOfMemory where the collector's thread cannot be started; the sink is
  /// not attached then.
  Status attach(AttachedSink &sink);
  /// Takes what was recorded so far, then lets go of the sink. The last one to go switches
  /// recording off.
  void detach(AttachedSink &sink);
  /// Takes what was recorded so far, and tells what is alive if some of it was dropped; the sinks
  /// are flushed.
  void flush();

  /// A thread's events fill its ring: they are taken now. Waits for nothing; any thread.
  void nudge() {
    if (!crashing_.load(std::memory_order_relaxed))
      wake_.notify_one();
  }

  /// For a process that is dying, on the thread that does; nothing here waits for a lock or takes
  /// memory. pauseForCrash(): the collector's thread rests from now on. False where it does not
  /// come to rest within the time, or is itself what died: its state must not be touched then.
  /// takeForCrash(): what all threads have recorded goes to this sink alone; markForCrash(): a mark
  /// of the calling thread.
  bool pauseForCrash(uint64_t patienceNs);
  void takeForCrash(AttachedSink &sink);
  void markForCrash(AttachedSink &sink, uint32_t name, int64_t value);
  void resumeAfterCrash();

  uint64_t passes() const { return passes_.load(std::memory_order_relaxed); }

private:
  friend class Describer;
  Collector() = default;
  void run();
  void start();
  void stop();
  void becomeBusy();
  /// Tells these sinks what there is.
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
  void tell(const EventHeader *event) {
    for (AttachedSink *sink : told_)
      sink->sink.add(event);
  }
  void reportDrops(detail::ThreadRing &thread);
  void flushSinks(bool all);
  bool removeFailed();

  std::mutex mutex_; // of all below but where a comment says otherwise
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<AttachedSink *> joining_;
  std::vector<AttachedSink *> leaving_;
  bool flushWanted_ = false;
  bool running_ = false;

  // The collector's thread alone:
  std::vector<AttachedSink *> sinks_;
  std::vector<AttachedSink *> told_; // of a description
  std::vector<detail::ThreadRing *> rings_;
  TickClock clock_;
  uint64_t wallClockNs_ = 0;
  bool memoryDropped_ = false;
  uint64_t lastSnapshotNs_ = 0;
  uint64_t reportedLate_ = 0;
  uint64_t passEvents_ = 0; // of the last pass
  std::atomic<uint64_t> passes_{0};

  // Between it and a thread that dies:
  std::atomic<bool> busy_{false};
  std::atomic<bool> crashing_{false};
  std::vector<AttachedSink *> crashSinks_ = std::vector<AttachedSink *>(1);
};

} // namespace gantry::trace

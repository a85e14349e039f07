// The collector's thread, and the functions that other threads call.
#include "engine/trace/record/collector.h"

#include "engine/base/crash.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/process_barrier.h"
#include "engine/base/thread.h"
#include "engine/trace/record/process.h"
#include "engine/trace/record/source.h"

#include <algorithm>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gantry::trace {
namespace {

constexpr uint64_t kMarginTicks = 1 << 15; // About 10 us at 3 GHz; collector.h explains the margin.

// The pause after a pass depends on the pass's number of events. The pause is kBusyPause for more
// than kBusyEvents events, kIdlePause for more than kQuietEvents events, and otherwise kQuietPause.
// A wake-up costs at least 20 us of processor time.
constexpr uint64_t kBusyEvents = 1000;
constexpr uint64_t kQuietEvents = 250;
constexpr std::chrono::microseconds kBusyPause{200};
constexpr std::chrono::microseconds kIdlePause{4000};
constexpr std::chrono::microseconds kQuietPause{16000};

constexpr uint64_t kReleaseEvery = 2048; // Number of events after which ring space is released.
constexpr uint64_t kSnapshotPauseNs =
    200'000'000; // Min time between snapshots after drops, except in a whole pass.
constexpr size_t kRingsAtCrash = 1024; // Rings that a crash can list; see start().
constexpr uint64_t kCrashPollNs = 1'000'000;

constinit thread_local bool isCollectorThread = false;

} // namespace

Collector &Collector::instance() {
  static auto *const collector = new Collector;
  return *collector;
}

// ---- functions of other threads ----------------------------------------------------------------

Status Collector::attach(AttachedSink &sink) {
  GANTRY_RETURN_IF_ERROR(sink.sink.status());
  std::unique_lock<std::mutex> locked(mutex_);
  if (!running_) {
    // The thread ends when the last sink is detached; the Collector object stays.
    GANTRY_ASSIGN_OR_RETURN(Thread thread, Thread::start("gantry-trace", [this] { run(); }));
    thread.detach();
    running_ = true;
  }
  joining_.push_back(&sink);
  wake_.notify_one();
  done_.wait(locked,
             [&] { return std::find(joining_.begin(), joining_.end(), &sink) == joining_.end(); });
  return {};
}

void Collector::detach(AttachedSink &sink) {
  std::unique_lock<std::mutex> locked(mutex_);
  if (!running_)
    return;
  leaving_.push_back(&sink);
  wake_.notify_one();
  done_.wait(locked,
             [&] { return std::find(leaving_.begin(), leaving_.end(), &sink) == leaving_.end(); });
}

void Collector::flush() {
  std::unique_lock<std::mutex> locked(mutex_);
  if (!running_)
    return;
  flushWanted_ = true;
  wake_.notify_one();
  done_.wait(locked, [&] { return !flushWanted_ || !running_; });
}

// ---- the collector's thread --------------------------------------------------------------------

void Collector::run() {
  isCollectorThread = true;
  becomeBusy();
  start();
  std::unique_lock<std::mutex> locked(mutex_);
  for (;;) {
    const HostMemoryScope scope; // Notes failed allocations of one pass (out_of_memory.h).
    std::vector<AttachedSink *> joining = joining_;
    const std::vector<AttachedSink *> leaving = leaving_;
    const bool flushing = flushWanted_;
    locked.unlock();
    for (AttachedSink *sink : joining)
      sinks_.push_back(sink);
    if (!joining.empty())
      describe(joining);
    renewStale();
    pass(flushing || !leaving.empty());
    flushSinks(flushing || !joining.empty());
    for (AttachedSink *sink : leaving) {
      sink->sink.flush();
      std::erase(sinks_, sink);
    }
    // Without host memory a sink may miss events, so all sinks fail with this status.
    if (const Status memory = checkHostMemory(); !memory.isOk())
      for (AttachedSink *sink : sinks_)
        sink->sink.fail(memory);
    removeFailed();
    locked.lock();
    for (AttachedSink *sink : joining)
      std::erase(joining_, sink);
    for (AttachedSink *sink : leaving)
      std::erase(leaving_, sink);
    flushWanted_ = flushWanted_ && !flushing;
    done_.notify_all();
    if (sinks_.empty() && joining_.empty())
      break;
    if (joining_.empty() && leaving_.empty() && !flushWanted_) {
      busy_.store(false);
      wake_.wait_for(locked, passEvents_ > kBusyEvents    ? kBusyPause
                             : passEvents_ > kQuietEvents ? kIdlePause
                                                          : kQuietPause);
    }
    becomeBusy();
  }
  stop();
  leaving_.clear(); // Only sinks that had failed before are left in the list.
  flushWanted_ = false;
  running_ = false;
  busy_.store(false);
  done_.notify_all();
}

/// Waits while a crashing thread uses the collector's state. Each of the two threads stores its own
/// flag before it loads the other flag, so at least one of them sees the other thread's flag.
void Collector::becomeBusy() {
  busy_.store(true);
  while (crashing_.load()) {
    busy_.store(false);
    sleepInCrash(kCrashPollNs);
    busy_.store(true);
  }
}

void Collector::start() {
  // Discard events that threads published after the end of an earlier capture. The reserved
  // capacity lets takeForCrash() list the rings without allocating.
  rings_.reserve(kRingsAtCrash);
  detail::listRings(rings_);
  for (detail::ThreadRing *ring : rings_) {
    ring->position = ring->ring.head();
    ring->ring.release(ring->position);
    ring->reported = ring->ring.drops();
    ring->known = false;
  }
  reportedLate_ = detail::lateEventCount();
  clock_.start();
  wallClockNs_ = wallClockNs();
  memoryDropped_ = false;
  detail::setOn(true);
  // After the barrier, later calls of isOn() on every thread return true. On a system without the
  // barrier, the code waits 1 ms: a store becomes visible to all cores in much less time.
  if (hasProcessBarrier())
    processBarrier();
  else
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Collector::stop() { detail::setOn(false); }

void Collector::describe(const std::vector<AttachedSink *> &sinks) {
  described_ = sinks;
  // Each thread gets another kThread event, because the described sinks need it.
  detail::listRings(rings_);
  for (detail::ThreadRing *ring : rings_)
    ring->known = false;
  Describer describer(*this);
  describer.cut(readTicks());
  // The snapshots of this description include the effect of all events lost so far. If other sinks
  // do not receive this description, they still need a snapshot.
  const bool others = std::exchange(memoryDropped_, false) && described_.size() != sinks_.size();
  ProcessEvent process = makeEvent<ProcessEvent>(EventType::kProcess);
  process.processId = static_cast<uint32_t>(getpid());
  process.name = intern(executableName());
  process.commandLine = intern(commandLine());
  process.producer = intern(producerName());
  process.wallClockNs = wallClockNs_;
  process.clockResolution = clock_.ticksPerSecond();
  describer.add(process);
  detail::describeSources(describer);
  // If memory events were lost while the description was made, the description may be wrong. The
  // loss is therefore reported again after it (DropsEvent).
  if (memoryDropped_) {
    DropsEvent again = makeEvent<DropsEvent>(EventType::kDrops);
    again.memory = 1;
    describer.add(again);
  }
  memoryDropped_ = memoryDropped_ || others;
  described_.clear();
}

void Collector::renewStale() {
  std::vector<AttachedSink *> stale;
  for (AttachedSink *sink : sinks_)
    if (sink->isStale != nullptr && sink->isStale(sink->user))
      stale.push_back(sink);
  for (AttachedSink *sink : stale) {
    sink->sink.flush();
    sink->renew(sink->user);
  }
  if (!stale.empty())
    describe(stale);
}

void Describer::cut(uint64_t ticks) {
  ticks_ = ticks;
  collector_.mergeUpTo(ticks);
}

void Describer::add(Event &event) {
  event.header.timeNs = collector_.clock_.toNs(ticks_);
  event.header.thread = 0;
  collector_.emitToDescribed(&event.header);
}

/// One pass over all rings. If `whole` is set, the pass includes every event that was recorded
/// before the call, and takes a snapshot at once if memory events were dropped.
void Collector::pass(bool whole) {
  passEvents_ = 0;
  const uint64_t now = readTicks();
  while (whole && readTicks() - now <= kMarginTicks)
    std::this_thread::yield();
  mergeUpTo(whole ? now : now - kMarginTicks);
  for (detail::ThreadRing *ring : rings_) {
    // `ended` is loaded before the head, so the thread publishes no event after this head.
    if (ring->ended.load(std::memory_order_acquire) && ring->ring.head() == ring->position) {
      reportDrops(*ring);
      detail::retireRing(ring);
    }
  }
  const uint64_t late = detail::lateEventCount();
  if (late != reportedLate_) {
    DropsEvent drops = makeEvent<DropsEvent>(EventType::kDrops);
    drops.header.timeNs = clock_.toNs(readTicks());
    drops.events = late - reportedLate_;
    reportedLate_ = late;
    emit(&drops.header);
  }
  if (memoryDropped_ && (whole || monotonicNs() - lastSnapshotNs_ > kSnapshotPauseNs)) {
    describe(sinks_);
    lastSnapshotNs_ = monotonicNs();
  }
}

void Collector::mergeUpTo(uint64_t ticks) {
  detail::listRings(rings_);
  mergeRings(ticks);
}

void Collector::mergeRings(uint64_t ticks) {
  for (detail::ThreadRing *ring : rings_)
    ring->head = ring->ring.head();
  clock_.advance(); // The events to merge are older than this reading of the clocks.
  // A thread counts a drop before it publishes a later event. All drops before these heads are
  // therefore counted by now, and each loss is reported before the events that follow it.
  for (detail::ThreadRing *ring : rings_)
    reportDrops(*ring);
  for (;;) {
    detail::ThreadRing *earliest = nullptr;
    uint64_t first = UINT64_MAX;
    uint64_t second = UINT64_MAX;
    for (detail::ThreadRing *ring : rings_) {
      const EventHeader *event = ring->ring.peek(&ring->position, ring->head);
      if (event == nullptr)
        continue;
      if (event->timeNs < first) {
        second = first;
        first = event->timeNs;
        earliest = ring;
      } else {
        second = std::min(second, event->timeNs);
      }
    }
    if (earliest == nullptr || first > ticks)
      break;
    emitRun(*earliest, std::min(ticks, second));
  }
  for (detail::ThreadRing *ring : rings_)
    ring->ring.release(ring->position);
}

/// Emits events of one thread up to the time of the next event of another thread.
void Collector::emitRun(detail::ThreadRing &thread, uint64_t untilTicks) {
  uint64_t count = 0;
  for (;;) {
    EventHeader *event = thread.ring.peek(&thread.position, thread.head);
    if (event == nullptr || event->timeNs > untilTicks)
      break;
    event->timeNs = clock_.toNs(event->timeNs);
    event->thread = thread.thread;
    if (event->type == EventType::kClock) // The engine recorded hostNs as monotonic time.
      reinterpret_cast<ClockEvent *>(event)->hostNs -= clock_.originNs();
    if (!thread.known || thread.announced != thread.name.load(std::memory_order_relaxed))
      announce(thread, event->timeNs);
    emit(event);
    thread.position += event->words;
    if (++count % kReleaseEvery == 0)
      thread.ring.release(thread.position);
  }
  passEvents_ += count;
}

void Collector::announce(detail::ThreadRing &thread, uint64_t timeNs) {
  thread.known = true;
  thread.announced = thread.name.load(std::memory_order_relaxed);
  ThreadEvent event = makeEvent<ThreadEvent>(EventType::kThread);
  event.header.timeNs = timeNs;
  event.header.thread = thread.thread;
  event.systemId = thread.systemId;
  event.name = thread.announced;
  emit(&event.header);
}

void Collector::reportDrops(detail::ThreadRing &thread) {
  const Ring::Drops drops = thread.ring.drops();
  if (drops.events == thread.reported.events)
    return;
  uint64_t ticks =
      readTicks(); // Replaced by the time of the first event that is not merged yet, if any.
  for (detail::ThreadRing *ring : rings_)
    if (const EventHeader *next = ring->ring.peek(&ring->position, ring->head))
      ticks = std::min(ticks, next->timeNs);
  const uint64_t timeNs = clock_.toNs(ticks);
  if (!thread.known)
    announce(thread, timeNs);
  DropsEvent event = makeEvent<DropsEvent>(EventType::kDrops);
  event.header.timeNs = timeNs;
  event.header.thread = thread.thread;
  event.events = drops.events - thread.reported.events;
  event.memory = drops.memory - thread.reported.memory;
  memoryDropped_ = memoryDropped_ || event.memory != 0;
  thread.reported = drops;
  emit(&event.header);
}

void Collector::flushSinks(bool all) {
  const uint64_t now = monotonicNs();
  for (AttachedSink *sink : sinks_)
    if (!sink->sink.isEmpty() && (all || now - sink->lastFlushNs >= sink->flushNs)) {
      sink->sink.flush();
      sink->lastFlushNs = now;
    }
}

bool Collector::removeFailed() {
  std::vector<AttachedSink *> failed;
  for (AttachedSink *sink : sinks_)
    if (!sink->sink.status().isOk())
      failed.push_back(sink);
  for (AttachedSink *sink : failed) {
    std::erase(sinks_, sink);
    if (sink->failed != nullptr)
      sink->failed(sink->user);
  }
  return !failed.empty();
}

// ---- functions of a crashing thread ------------------------------------------------------------

bool Collector::pauseForCrash(uint64_t patienceNs) {
  if (isCollectorThread)
    return false;
  crashing_.store(true);
  const uint64_t start = monotonicNs();
  while (busy_.load()) {
    if (monotonicNs() - start > patienceNs)
      return false;
    sleepInCrash(kCrashPollNs);
  }
  return true;
}

void Collector::takeForCrash(AttachedSink &sink) {
  crashSinks_[0] = &sink;
  sinks_.swap(crashSinks_);
  detail::tryListRings(rings_);
  mergeRings(readTicks());
  sinks_.swap(crashSinks_);
  memoryDropped_ = true; // The other sinks need a snapshot if the process survives.
}

void Collector::markForCrash(AttachedSink &sink, uint32_t name, int64_t value) {
  HostEvent event = makeEvent<HostEvent>(EventType::kMark);
  event.header.timeNs = clock_.toNs(readTicks());
  event.header.thread = detail::currentRing == nullptr ? 0 : detail::currentRing->thread;
  event.name = name;
  event.value = value;
  sink.sink.add(&event.header);
}

void Collector::resumeAfterCrash() { crashing_.store(false); }

} // namespace gantry::trace

#include "engine/trace/collector.h"

#include "engine/base/crash.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/process_barrier.h"
#include "engine/base/thread.h"
#include "engine/trace/process.h"
#include "engine/trace/source.h"

#include <algorithm>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gantry::trace {
namespace {

constexpr uint64_t kMarginTicks = 1 << 15; // about 10 us; see collector.h
constexpr std::chrono::microseconds kBusyPause{200};
constexpr std::chrono::microseconds kIdlePause{4000};
constexpr std::chrono::microseconds kQuietPause{16000}; // a wake-up alone costs 20 us or more
constexpr uint64_t kReleaseEvery = 2048;                // events of a run
constexpr uint64_t kSnapshotPauseNs = 200'000'000;      // between two because of drops
constexpr uint64_t kBusyEvents = 1000;                  // of a pass
constexpr uint64_t kQuietEvents = 250;
constexpr size_t kRingsAtCrash = 1024; // of threads, that are found without taking memory
constexpr uint64_t kCrashLookNs = 1'000'000;

constinit thread_local bool isCollectorThread = false;

} // namespace

Collector &Collector::instance() {
  static auto *const collector = new Collector;
  return *collector;
}

// ---- from other threads ------------------------------------------------------------------------

Status Collector::attach(AttachedSink &sink) {
  GANTRY_RETURN_IF_ERROR(sink.sink.status());
  std::unique_lock<std::mutex> locked(mutex_);
  if (!running_) {
    // It ends with the last sink; the collector stays.
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
    const HostMemoryScope scope; // One pass of the collector.
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
    // Without memory, what a sink has is not all that happened: it ends, and its status says so.
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
  leaving_.clear(); // sinks that had failed already
  flushWanted_ = false;
  running_ = false;
  busy_.store(false);
  done_.notify_all();
}

/// One of the two sees what the other has stored, since both store before they load.
void Collector::becomeBusy() {
  busy_.store(true);
  while (crashing_.load()) {
    busy_.store(false);
    sleepInCrash(kCrashLookNs);
    busy_.store(true);
  }
}

void Collector::start() {
  // What threads published after the end of an earlier capture is none of this one.
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
  // Every thread's later loads see it. Where there is no such barrier, stores become visible by
  // themselves, in much less than a millisecond.
  if (hasProcessBarrier())
    processBarrier();
  else
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Collector::stop() { detail::setOn(false); }

void Collector::describe(const std::vector<AttachedSink *> &sinks) {
  told_ = sinks;
  // All that was told of threads is told again, for the sinks that are new.
  detail::listRings(rings_);
  for (detail::ThreadRing *ring : rings_)
    ring->known = false;
  Describer describer(*this);
  describer.cut(readTicks());
  // What was lost up to here is in the snapshots that follow.
  const bool others = std::exchange(memoryDropped_, false) && told_.size() != sinks_.size();
  ProcessEvent process = makeEvent<ProcessEvent>(EventType::kProcess);
  process.processId = static_cast<uint32_t>(getpid());
  process.name = intern(executableName());
  process.commandLine = intern(commandLine());
  process.producer = intern(producerName());
  process.wallClockNs = wallClockNs_;
  process.clockResolution = clock_.ticksPerSecond();
  describer.add(process);
  detail::describeSources(describer);
  if (memoryDropped_) { // what was lost meanwhile may not be: it is told again, behind them
    DropsEvent again = makeEvent<DropsEvent>(EventType::kDrops);
    again.memory = 1;
    describer.add(again);
  }
  memoryDropped_ = memoryDropped_ || others;
  told_.clear();
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
  collector_.tell(&event.header);
}

/// whole: everything that was recorded before the call is in it, and what is alive is known after
/// it.
void Collector::pass(bool whole) {
  passEvents_ = 0;
  passes_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t now = readTicks();
  while (whole && readTicks() - now <= kMarginTicks)
    std::this_thread::yield();
  mergeUpTo(whole ? now : now - kMarginTicks);
  for (detail::ThreadRing *ring : rings_) {
    // `ended` is read before the head: nothing comes behind it.
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
  clock_.advance();
  detail::listRings(rings_);
  mergeRings(ticks);
}

void Collector::mergeRings(uint64_t ticks) {
  for (detail::ThreadRing *ring : rings_)
    ring->head = ring->ring.head();
  // What was dropped before any of these heads is counted by now: the loss is told before the
  // events behind it.
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

/// Events of one thread, up to the time at which another's are next.
void Collector::emitRun(detail::ThreadRing &thread, uint64_t untilTicks) {
  uint64_t count = 0;
  for (;;) {
    EventHeader *event = thread.ring.peek(&thread.position, thread.head);
    if (event == nullptr || event->timeNs > untilTicks)
      break;
    event->timeNs = clock_.toNs(event->timeNs);
    event->thread = thread.thread;
    if (event->type == EventType::kClock) // recorded by the monotonic clock
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
  uint64_t ticks = readTicks(); // or of the first event behind it, whichever thread's
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

// ---- on a thread that dies ---------------------------------------------------------------------

bool Collector::pauseForCrash(uint64_t patienceNs) {
  if (isCollectorThread)
    return false;
  crashing_.store(true);
  const uint64_t start = monotonicNs();
  while (busy_.load()) {
    if (monotonicNs() - start > patienceNs)
      return false;
    sleepInCrash(kCrashLookNs);
  }
  return true;
}

void Collector::takeForCrash(AttachedSink &sink) {
  crashSinks_[0] = &sink;
  sinks_.swap(crashSinks_);
  clock_.advance();
  detail::tryListRings(rings_);
  mergeRings(readTicks());
  sinks_.swap(crashSinks_);
  memoryDropped_ = true; // for the others, should the process live on
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

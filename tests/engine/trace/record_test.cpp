// Tests recording: the order in which the collector (collector.h) passes events to sinks, events
// that are dropped and counted under overload, spans, and sources, which describe what exists when
// a sink is attached (source.h).
#include "engine/trace/record/clock.h"
#include "engine/trace/record/record.h"

#include "engine/trace/record/source.h"
#include "tests/engine/trace/memory_sink.h"

#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace {

using namespace gantry;
using namespace gantry::trace;
using namespace gantry::test;

TEST(RecordTest, NothingIsRecordedWithoutASink) {
  EXPECT_FALSE(isOn());
  mark(intern("before"), 1);
  MemorySink sink;
  EXPECT_TRUE(isOn());
  mark(intern("during"), 2);
  const std::vector<Event> marks = ofType(sink.events(), EventType::kMark);
  EXPECT_FALSE(isOn());
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(sink.names()[marks[0].host.name], "during");
  EXPECT_EQ(marks[0].host.value, 2);
}

TEST(RecordTest, ACaptureBeginsWithTheProcess) {
  MemorySink sink;
  const std::vector<Event> events = sink.events();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].type(), EventType::kProcess);
  EXPECT_EQ(events[0].process.processId, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(sink.names()[events[0].process.name], "trace_test");
}

TEST(RecordTest, EventsOfEachThreadArriveCompleteAndInOrder) {
  MemorySink sink;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      nameThread("worker " + std::to_string(t));
      for (int i = 0; i < 20000; ++i) {
        mark(intern("m"), i);
        if (i % 512 == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  const std::vector<Event> events = sink.events();
  std::map<uint32_t, int64_t> next;
  std::map<uint32_t, uint64_t> lastTime;
  std::map<uint32_t, std::string> names;
  for (const Event &event : events) {
    if (event.type() == EventType::kThread)
      names[event.header.thread] = sink.names()[event.thread.name];
    if (event.type() != EventType::kMark)
      continue;
    EXPECT_EQ(event.host.value, next[event.header.thread]++);
    EXPECT_GE(event.header.timeNs, lastTime[event.header.thread]);
    lastTime[event.header.thread] = event.header.timeNs;
    EXPECT_EQ(names[event.header.thread].substr(0, 7), "worker ");
  }
  ASSERT_EQ(next.size(), 4u);
  for (const auto &[thread, count] : next)
    EXPECT_EQ(count, 20000);
}

// This test assigns sequence numbers and records events under one lock, like the heap.
TEST(RecordTest, EventsUnderALockKeepTheOrderOfTheirSequence) {
  MemorySink sink;
  std::mutex lock;
  uint64_t sequence = 0;
  TicksInOrder order;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        {
          const std::lock_guard<std::mutex> locked(lock);
          recordAlways<ReleaseEvent>(EventType::kRelease, 7, true, [&](ReleaseEvent &event) {
            event.header.timeNs = order.next(event.header.timeNs);
            event.sequence = ++sequence;
            event.block = sequence * 3;
          });
        }
        if (i % 512 == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  const std::vector<Event> releases = ofType(sink.events(), EventType::kRelease);
  ASSERT_EQ(releases.size(), 40000u);
  for (uint64_t i = 0; i < releases.size(); ++i) {
    ASSERT_EQ(releases[i].release.sequence, i + 1);
    ASSERT_EQ(releases[i].release.block, (i + 1) * 3);
    ASSERT_EQ(releases[i].header.heap, 7);
  }
}

TEST(RecordTest, SpansNestAndTheInnermostIsCurrent) {
  MemorySink sink;
  const uint32_t outer = intern("outer");
  const uint32_t inner = intern("inner");
  EXPECT_EQ(currentSpan(), 0u);
  {
    const Span a(outer);
    EXPECT_EQ(currentSpan(), outer);
    {
      const Span b(inner);
      EXPECT_EQ(currentSpan(), inner);
    }
    EXPECT_EQ(currentSpan(), outer);
  }
  EXPECT_EQ(currentSpan(), 0u);
  endSpan(); // Has no effect, because no span is open.
  const std::vector<Event> events = sink.events();
  EXPECT_EQ(ofType(events, EventType::kSpanBegin).size(), 2u);
  const std::vector<Event> ends = ofType(events, EventType::kSpanEnd);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].host.name, inner);
  EXPECT_EQ(ends[1].host.name, outer);
}

TEST(RecordTest, DeeplyNestedSpansAreRestored) {
  MemorySink sink;
  for (uint32_t i = 1; i <= 30; ++i)
    beginSpan(i);
  for (uint32_t i = 30; i >= 1; --i)
    endSpan();
  EXPECT_EQ(currentSpan(), 0u);
  EXPECT_EQ(ofType(sink.events(), EventType::kSpanEnd).size(), 30u);
}

TEST(RecordTest, OverloadDropsAndCountsExactly) {
  MemorySink sink;
  sink.hangs = true;
  constexpr uint64_t kEvents = 1000000;
  std::thread([&] {
    for (uint64_t i = 0; i < kEvents; ++i)
      mark(1, static_cast<int64_t>(i));
  }).join();
  sink.hangs = false;
  const std::vector<Event> events = sink.events();
  uint64_t dropped = 0;
  for (const Event &event : ofType(events, EventType::kDrops))
    dropped += event.drops.events;
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(dropped + ofType(events, EventType::kMark).size(), kEvents);
}

TEST(RecordTest, ADropIsReportedBeforeTheEventsThatFollowIt) {
  MemorySink sink;
  int64_t next = 0;
  for (int round = 0; round < 40; ++round) {
    // The ring fills up while the sink hangs. Afterwards the collector finds the events before and
    // after the gap in one pass.
    sink.hangs = true;
    for (uint64_t i = 0; i < 150000; ++i)
      mark(1, next++);
    sink.hangs = false;
    for (uint64_t i = 0; i < 100000; ++i)
      mark(1, next++);
  }
  int64_t seen = -1;
  uint64_t reported = 0;
  uint64_t missed = 0;
  for (const Event &event : sink.events()) {
    reported += event.type() == EventType::kDrops ? event.drops.events : 0;
    if (event.type() == EventType::kMark) {
      missed += static_cast<uint64_t>(event.host.value - seen - 1);
      seen = event.host.value;
      ASSERT_LE(missed, reported) << "before the mark " << seen;
    }
  }
  EXPECT_GT(reported, 0u);
  EXPECT_EQ(reported, missed + static_cast<uint64_t>(next - 1 - seen));
}

// A snapshot (kSnapshotBegin in events.h) has the heap's state at the moment when its source reads
// it. The snapshot does not contain events that are lost after that moment and before the
// snapshot's place in the stream, so their drop record must be repeated after the snapshot.
TEST(RecordTest, ADropDuringASnapshotIsRepeatedAfterIt) {
  struct State {
    std::mutex mutex;
    uint64_t sequence = 0;
    TicksInOrder order;
    bool wanted = false;

    void step() {
      const std::lock_guard<std::mutex> locked(mutex);
      ++sequence;
      recordAlways<ReleaseEvent>(EventType::kRelease, 9, true, [&](ReleaseEvent &out) {
        out.header.timeNs = order.next(out.header.timeNs);
        out.sequence = sequence;
      });
    }
  } state;
  Source source;
  source.user = &state;
  source.describe = [](void *user, Describer &describer) {
    auto *self = static_cast<State *>(user);
    SnapshotEvent snapshot = makeEvent<SnapshotEvent>(EventType::kSnapshotBegin);
    snapshot.header.heap = 9;
    uint64_t ticks = 0;
    {
      const std::lock_guard<std::mutex> locked(self->mutex);
      snapshot.sequence = self->sequence;
      ticks = self->order.next(readTicks());
    }
    if (std::exchange(self->wanted, false))
      std::thread([self] {
        for (int i = 0; i < 500000; ++i)
          self->step();
      }).join();
    describer.cut(ticks);
    describer.add(snapshot);
    snapshot.header.type = EventType::kSnapshotEnd;
    describer.add(snapshot);
  };
  addSource(source);
  std::vector<Event> events;
  {
    MemorySink first;
    first.hangs = true;
    for (int i = 0; i < 500000; ++i)
      state.step();
    first.hangs = false;
    // flush() takes the snapshot for this loss at once. The collector pauses before the snapshot
    // for the next loss.
    Collector::instance().flush();
    state.wanted = true;
    MemorySink second;
    for (int i = 0; i < 100; ++i)
      state.step();
    events = second.events();
  }
  removeSource(source);
  bool exact = false;
  uint64_t last = 0;
  int losses = 0;
  for (const Event &event : events) {
    if (event.type() == EventType::kDrops) {
      exact = exact && event.drops.memory == 0;
      losses += event.drops.memory != 0 ? 1 : 0;
    } else if (event.type() == EventType::kSnapshotEnd) {
      exact = true;
      last = event.snapshot.sequence;
    } else if (event.type() == EventType::kRelease) {
      EXPECT_TRUE(!exact || event.release.sequence == last + 1)
          << event.release.sequence << " after " << last;
      last = event.release.sequence;
    }
  }
  EXPECT_GT(losses, 0);
  EXPECT_TRUE(exact) << "no snapshot after the loss";
  EXPECT_EQ(last, state.sequence);
}

TEST(RecordTest, SourcesListenAndDescribe) {
  struct State {
    bool listening = false;
    int described = 0;
  } state;
  Source source;
  source.user = &state;
  source.listen = [](void *user, bool wanted) { static_cast<State *>(user)->listening = wanted; };
  source.describe = [](void *user, Describer &describer) {
    auto *self = static_cast<State *>(user);
    EXPECT_TRUE(self->listening);
    self->described += 1;
    HeapEvent event = makeEvent<HeapEvent>(EventType::kHeap);
    event.header.heap = 9;
    describer.add(event);
  };
  addSource(source);
  EXPECT_FALSE(state.listening);
  {
    MemorySink first;
    EXPECT_EQ(state.described, 1);
    MemorySink second;
    EXPECT_EQ(state.described, 2);
    EXPECT_EQ(ofType(second.events(), EventType::kHeap).size(), 1u);
    EXPECT_EQ(ofType(first.events(), EventType::kHeap).size(), 1u)
        << "the description is for the new sink only";
  }
  EXPECT_FALSE(state.listening);
  removeSource(source);
  MemorySink third;
  EXPECT_EQ(state.described, 2);
}

TEST(RecordTest, ADescriptionIsSentBetweenTheEventsBeforeAndAfterItsCut) {
  Source source;
  source.describe = [](void *, Describer &describer) {
    mark(intern("before"), 0);
    describer.cut(readTicks());
    HeapEvent event = makeEvent<HeapEvent>(EventType::kHeap);
    event.header.heap = 9;
    mark(intern("after"), 0);
    describer.add(event);
  };
  addSource(source);
  MemorySink sink;
  removeSource(source);
  std::vector<std::string> order;
  for (const Event &event : sink.events()) {
    if (event.type() == EventType::kMark)
      order.emplace_back(sink.names()[event.host.name]);
    if (event.type() == EventType::kHeap)
      order.emplace_back("heap");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"before", "heap", "after"}));
}

TEST(TickClockTest, LaterTicksNeverGiveAnEarlierTime) {
  TickClock clock;
  clock.start();
  clock.advance();
  for (int i = 0; i < 20000; ++i) {
    const uint64_t first = readTicks();
    const uint64_t second = readTicks();
    clock.advance();
    const uint64_t firstNs = clock.toNs(first);
    clock.advance(); // The second event is converted later and with another rate.
    ASSERT_LE(firstNs, clock.toNs(second)) << first << " " << second;
  }
}

TEST(RecordTest, TimesAgreeWithTheMonotonicClock) {
  MemorySink sink;
  const uint64_t start = monotonicNs();
  mark(1, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  mark(1, 0);
  const uint64_t elapsed = monotonicNs() - start;
  const std::vector<Event> marks = ofType(sink.events(), EventType::kMark);
  ASSERT_EQ(marks.size(), 2u);
  const uint64_t recorded = marks[1].header.timeNs - marks[0].header.timeNs;
  EXPECT_GE(recorded, 29'900'000u);
  EXPECT_LE(recorded, elapsed + 100'000);
}

TEST(NamesTest, EqualTextsHaveOneId) {
  EXPECT_EQ(intern(""), 0u);
  const uint32_t a = intern("one text");
  EXPECT_EQ(intern("one text"), a);
  EXPECT_NE(intern("other text"), a);
}

} // namespace

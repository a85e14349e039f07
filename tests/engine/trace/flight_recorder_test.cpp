// Tests the flight recorder, which keeps the last seconds of the trace in memory: files that it
// writes on request, and files that it writes when a signal kills the process.
#include "engine/trace/record/flight_recorder.h"

#include "engine/base/crash.h"
#include "engine/trace/record/record.h"
#include "engine/trace/record/source.h"
#include "tests/engine/trace/capture_contents.h"
#include "tests/engine/trace/memory_sink.h"
#include "tests/support/child_process.h"
#include "tests/support/scratch.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>

namespace {

using namespace gantry;
using namespace gantry::trace;
using namespace gantry::test;

std::unique_ptr<FlightRecorder> startRecorder(const FlightOptions &options) {
  auto recorder = FlightRecorder::start(options);
  EXPECT_TRUE(recorder.isOk()) << recorder.status().message();
  return recorder.isOk() ? recorder.take() : nullptr;
}

void markUpTo(uint32_t name, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i)
    mark(name, i);
}

/// Returns the values of the marks with this name, in their order.
std::vector<int64_t> valuesOf(const Contents &contents, std::string_view name) {
  std::vector<int64_t> values;
  for (const Event &event : contents.named(EventType::kMark, name))
    values.push_back(event.host.value);
  return values;
}

TEST(FlightRecorderTest, WritesOnRequestAndContinues) {
  const ScratchFolder scratch;
  const auto recorder = startRecorder({});
  ASSERT_NE(recorder, nullptr);
  markUpTo(intern("tick"), 0, 100);
  ASSERT_TRUE(recorder->write(scratch.path("first.gtrace")).isOk());
  markUpTo(intern("tick"), 100, 150);
  ASSERT_TRUE(recorder->write(scratch.path("second.gtrace")).isOk());
  const Contents first = readAll(scratch.path("first.gtrace"));
  EXPECT_EQ(first.tail, Tail::kComplete);
  ASSERT_FALSE(first.events.empty());
  EXPECT_EQ(first.events[0].type(), EventType::kProcess);
  EXPECT_EQ(valuesOf(first, "tick").size(), 100u);
  EXPECT_EQ(valuesOf(readAll(scratch.path("second.gtrace")), "tick").size(), 150u);
}

TEST(FlightRecorderTest, RefusesInvalidOptions) {
  const ScratchFolder scratch;
  FlightOptions options;
  options.seconds = 0;
  EXPECT_EQ(FlightRecorder::start(options).status().code(), StatusCode::kInvalidArgument);
  options.seconds = 1;
  options.maxBytes = kMinFlightBytes - 1;
  EXPECT_EQ(FlightRecorder::start(options).status().code(), StatusCode::kInvalidArgument);
  options.maxBytes = kMinFlightBytes;
  options.crashPath = scratch.path("a.gtrace");
  const auto recorder = startRecorder(options);
  ASSERT_NE(recorder, nullptr);
  EXPECT_EQ(FlightRecorder::start(options).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(recorder->write(scratch.path("b.gtrace")).isOk()) << "the first recorder still works";
  EXPECT_FALSE(recorder->write(scratch.path("nowhere") + "/b.gtrace").isOk());
}

// Records far more events than fit. The file must have the last events, without a gap unless the
// ring (ring.h) of the recording thread dropped events, and the descriptions of objects that are
// older than these events.
TEST(FlightRecorderTest, KeepsTheLastEventsThatFitItsMemory) {
  const ScratchFolder scratch;
  Source source;
  source.describe = [](void *, Describer &describer) {
    HeapEvent event = makeEvent<HeapEvent>(EventType::kHeap);
    event.header.heap = 9;
    event.name = intern("a heap that is older than the recorder");
    describer.add(event);
  };
  addSource(source);
  FlightOptions options;
  options.maxBytes = kMinFlightBytes;
  constexpr int64_t kMarks = 3'000'000;
  {
    const auto recorder = startRecorder(options);
    ASSERT_NE(recorder, nullptr);
    std::thread([] {
      const uint32_t name = intern("tick");
      uint64_t random = 1;
      for (int64_t i = 0; i < kMarks - 1; ++i) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        counter(name, static_cast<int64_t>(random)); // Random values do not compress.
        mark(name, i);
        if (i % 20000 == 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      Collector::instance().flush(); // Empties the ring, so that the last mark fits.
      mark(name, kMarks - 1);
    }).join();
    ASSERT_TRUE(recorder->write(scratch.path("kept.gtrace")).isOk());
  }
  removeSource(source);
  const uint64_t bytes = std::filesystem::file_size(scratch.path("kept.gtrace"));
  EXPECT_LE(bytes, options.maxBytes + 100'000);
  EXPECT_GE(bytes, options.maxBytes / 3);
  const Contents kept = readAll(scratch.path("kept.gtrace"));
  const std::vector<int64_t> values = valuesOf(kept, "tick");
  ASSERT_FALSE(values.empty());
  EXPECT_LT(values.size(), static_cast<size_t>(kMarks));
  EXPECT_EQ(values.back(), kMarks - 1);
  uint64_t dropped = 0;
  for (const Event &event : ofType(kept.events, EventType::kDrops))
    dropped += event.drops.events;
  if (dropped == 0) {
    for (size_t i = 1; i < values.size(); ++i)
      ASSERT_EQ(values[i], values[i - 1] + 1);
  }
  const std::vector<Event> heaps = ofType(kept.events, EventType::kHeap);
  ASSERT_FALSE(heaps.empty());
  EXPECT_EQ(kept.names[heaps[0].heap.name], "a heap that is older than the recorder");
}

TEST(FlightRecorderTest, DiscardsEventsOlderThanItsPeriod) {
  const ScratchFolder scratch;
  FlightOptions options;
  options.seconds = 1;
  const auto recorder = startRecorder(options);
  ASSERT_NE(recorder, nullptr);
  std::vector<uint64_t> times;
  std::vector<int64_t> values;
  uint64_t now = monotonicNs();
  // The recorder discards whole segments: the first one when it begins the third
  // (flight_recorder.h). On a busy machine it may begin the segments late, so the loop ends when
  // the first mark is gone.
  for (const uint64_t start = now; now - start < 20'000'000'000;) {
    times.push_back(monotonicNs());
    mark(intern("tick"), static_cast<int64_t>(times.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    now = monotonicNs();
    if (now - start < 2'400'000'000 || times.size() % 16 != 0)
      continue;
    ASSERT_TRUE(recorder->write(scratch.path("kept.gtrace")).isOk());
    values = valuesOf(readAll(scratch.path("kept.gtrace")), "tick");
    ASSERT_FALSE(values.empty());
    EXPECT_EQ(values.back(), static_cast<int64_t>(times.size()));
    if (values.front() > 1)
      break;
  }
  ASSERT_FALSE(values.empty());
  EXPECT_GT(values.front(), 1) << "the first mark should be discarded";
  const uint64_t oldest = times[static_cast<size_t>(values.front()) - 1];
  EXPECT_GE(now - oldest, 800'000'000u)
      << "the recorder keeps one second, less the pause before the first mark";
}

// ---- crashes -----------------------------------------------------------------------------------

void disableCoreFiles() {
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Remove the sanitizers' handlers, which would end the process without the signal.
  for (const int signal : crashSignals())
    (void)::signal(signal, SIG_DFL);
}

/// Runs the function in a child process with a flight recorder that writes to `path`. Returns the
/// child's wait status.
template <typename Function> int runRecorded(const std::string &path, Function &&function) {
  return runInChild([&] {
    disableCoreFiles();
    FlightOptions options;
    options.crashPath = path;
    const auto recorder = startRecorder(options);
    function();
  });
}

constexpr int64_t kTicks = 10'000;

/// A way to crash.
struct Death {
  const char *name;
  int signal;
  void (*die)();
};

class FlightCrashTest : public testing::TestWithParam<Death> {};

/// The file must have every event up to the crash, and the process must end with the same signal as
/// without the recorder.
TEST_P(FlightCrashTest, LeavesAllRecordedEvents) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("crash-%p.gtrace");
  const int status = runRecorded(path, [&] {
    std::thread other([] { markUpTo(intern("other thread's"), 0, kTicks); });
    other.join();
    nameThread("the crashing thread");
    markUpTo(intern("tick"), 0, kTicks);
    mark(intern("a name that is in no frame yet"), 7);
    GetParam().die();
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), GetParam().signal);
  std::string found;
  for (const auto &entry : std::filesystem::directory_iterator(scratch.path("")))
    found = entry.path();
  EXPECT_EQ(found.find("%p"), std::string::npos);
  const Contents left = readAll(found);
  EXPECT_EQ(left.tail, Tail::kCutOff);
  ASSERT_FALSE(left.events.empty());
  EXPECT_EQ(left.events[0].type(), EventType::kProcess);
  EXPECT_EQ(valuesOf(left, "other thread's").size(), static_cast<size_t>(kTicks));
  const std::vector<int64_t> ticks = valuesOf(left, "tick");
  ASSERT_EQ(ticks.size(), static_cast<size_t>(kTicks));
  for (int64_t i = 0; i < kTicks; ++i)
    ASSERT_EQ(ticks[static_cast<size_t>(i)], i);
  EXPECT_EQ(valuesOf(left, "a name that is in no frame yet"), std::vector<int64_t>{7});
  const Event &last = left.events.back();
  ASSERT_EQ(last.type(), EventType::kMark);
  EXPECT_EQ(left.names[last.host.name], std::string("killed by ") + GetParam().name);
  EXPECT_EQ(last.host.value, GetParam().signal);
  std::string thread;
  for (const Event &event : ofType(left.events, EventType::kThread))
    if (event.header.thread == last.header.thread)
      thread = left.names[event.thread.name];
  EXPECT_EQ(thread, "the crashing thread");
}

__attribute__((no_sanitize("address", "undefined"))) void writeToNull() {
  volatile int *volatile nowhere = nullptr;
  *nowhere = 1; // NOLINT(clang-analyzer-core.NullDereference): the crash is intended
}

INSTANTIATE_TEST_SUITE_P(
    Signals, FlightCrashTest,
    testing::Values(Death{"SIGSEGV", SIGSEGV, writeToNull}, Death{"SIGABRT", SIGABRT, std::abort},
                    Death{"SIGBUS", SIGBUS, [] { (void)raise(SIGBUS); }},
                    Death{"SIGFPE", SIGFPE, [] { (void)kill(getpid(), SIGFPE); }},
                    Death{"SIGILL", SIGILL, [] { __builtin_trap(); }}),
    [](const testing::TestParamInfo<Death> &info) { return std::string(info.param.name); });

// A viewer that hangs blocks the collector (collector.h), which passes the events of all threads to
// viewers and files. The file must have the events that the collector packed before, and the
// crashing process must not wait for the collector forever.
TEST(FlightCrashTest, LeavesPackedFramesWhenTheCollectorHangs) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("crash.gtrace");
  const int status = runRecorded(path, [&] {
    markUpTo(intern("tick"), 0, kTicks);
    Collector::instance().flush();
    MemorySink viewer;
    viewer.hangs = true;
    std::thread([] { markUpTo(intern("more"), 0, kTicks * 10); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    writeToNull();
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  EXPECT_EQ(valuesOf(readAll(path), "tick").size(), static_cast<size_t>(kTicks));
}

TEST(FlightCrashTest, TheApplicationsHandlerRunsAfterTheRecorder) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("crash.gtrace");
  const int status = runInChild([&] {
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(42); };
    sigaction(SIGSEGV, &action, nullptr);
    FlightOptions options;
    options.crashPath = path;
    const auto recorder = startRecorder(options);
    mark(intern("tick"), 3);
    writeToNull();
  });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(valuesOf(readAll(path), "tick"), std::vector<int64_t>{3});
}

TEST(FlightCrashTest, ADestroyedRecorderWritesNothing) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("crash.gtrace");
  const int status = runInChild([&] {
    disableCoreFiles();
    FlightOptions options;
    options.crashPath = path;
    (void)startRecorder(options);
    std::abort();
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FlightCrashTest, ThreadsThatCrashTogetherLeaveOneCompleteFile) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("crash.gtrace");
  const int status = runRecorded(path, [&] {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        markUpTo(intern("tick"), 0, kTicks);
        for (++ready; ready < 4;)
          std::this_thread::yield();
        writeToNull();
      });
    threads[0].join();
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  const Contents left = readAll(path);
  EXPECT_EQ(valuesOf(left, "tick").size(), 4u * kTicks);
  EXPECT_EQ(valuesOf(left, "killed by SIGSEGV").size(), 1u);
}

} // namespace

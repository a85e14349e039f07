// Tests the trace events of a session (plans, runs, dispatches, donations, and pairs of times on
// the device's and the host's clock) as a viewer, such as the profiler, receives them. The viewer
// attaches before the session is created, or later.
#include "engine/trace/record/clock.h"
#include "tests/engine/program/session_fixture.h"
#include "tests/engine/trace/memory_sink.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace gantry::program {
namespace {

using test::MemorySink;
using test::ofType;
using trace::Event;
using trace::EventType;

class SessionTraceTest : public SessionFixture {
protected:
  void SetUp() override {
    setenv("GANTRY_TRACE_TIMES", "all", 1);
    SessionFixture::SetUp();
  }
  void TearDown() override {
    SessionFixture::TearDown();
    unsetenv("GANTRY_TRACE_TIMES");
  }
  /// Checks that the events hold this number of successful runs, each with a begin, an end and a
  /// plan of all commands. With timestamps, each command of each run must have a dispatch or copy
  /// event, and the dispatches must begin in ascending order.
  void expectRuns(const std::vector<Event> &events, size_t runs) {
    const artifact::Program &metadata = program_->metadata();
    const std::vector<Event> begins = ofType(events, EventType::kRun);
    const std::vector<Event> ends = ofType(events, EventType::kRunEnd);
    ASSERT_EQ(begins.size(), runs);
    ASSERT_EQ(ends.size(), runs);
    std::set<uint32_t> plans;
    for (const Event &event : ofType(events, EventType::kPlan)) {
      plans.insert(event.plan.plan);
      EXPECT_EQ(event.plan.commands, metadata.commands()->size());
    }
    for (size_t i = 0; i < runs; ++i) {
      EXPECT_EQ(begins[i].run.run, ends[i].run.run);
      EXPECT_EQ(ends[i].run.status, 0u);
      EXPECT_TRUE(plans.contains(begins[i].run.plan));
    }
    if (!device_->info().timestamps)
      return;
    const std::vector<Event> dispatches = ofType(events, EventType::kDispatch);
    EXPECT_EQ(dispatches.size() + ofType(events, EventType::kCopy).size(),
              runs * metadata.commands()->size());
    uint64_t last = 0;
    for (const Event &event : dispatches) {
      EXPECT_LE(event.dispatch.gpu.beginNs, event.dispatch.gpu.endNs);
      EXPECT_GE(event.dispatch.gpu.beginNs, last) << "dispatches of one queue begin in order";
      last = event.dispatch.gpu.beginNs;
      EXPECT_GE(event.dispatch.workgroups[0], 1u);
    }
  }
};

TEST_F(SessionTraceTest, AViewerFromTheStartSeesPlansRunsAndDispatches) {
  MemorySink sink;
  openChain(true);
  ASSERT_TRUE(runChain(100).isOk());
  ASSERT_TRUE(runChain(1000).isOk());
  ASSERT_TRUE(runChain(100).isOk());
  session_.reset();
  const std::vector<Event> events = sink.events();
  expectRuns(events, 3);
  EXPECT_EQ(ofType(events, EventType::kPlan).size(), 2u);
  EXPECT_EQ(sink.names()[ofType(events, EventType::kPlan)[0].plan.shapes], "n=100");
  EXPECT_EQ(ofType(events, EventType::kPlanEntry).size(),
            2 * program_->metadata().values()->size());
  EXPECT_EQ(ofType(events, EventType::kSession).size(), 1u);
  EXPECT_EQ(ofType(events, EventType::kSessionEnd).size(), 1u);
}

TEST_F(SessionTraceTest, AStateIsABlockWithItsNameToWhichRunsBindBothPorts) {
  MemorySink sink;
  test::TestModel model;
  const uint32_t w = model.input("w", artifact::ElementType::f32, {model.number(100)});
  const uint32_t next = model.apply(test::TestKernel::kTwice, {w}, "Twice_0");
  model.output("w_next", next);
  model.state(w, next);
  open(model);
  const std::vector<float> values(100, 1.0f);
  ASSERT_TRUE(session_->state()
                  ->write(0, session_->state()->entries()[0].shape,
                          {reinterpret_cast<const uint8_t *>(values.data()), 400})
                  .isOk());
  const TensorArgument none[] = {{}};
  std::vector<OutputShape> shapes;
  auto run = session_->submit(none, none, shapes);
  ASSERT_TRUE(run.isOk()) << run.status().message();
  ASSERT_TRUE((*run)->wait(UINT64_MAX).isOk());
  const uint64_t block = session_->state()->entries()[0].buffer.block();
  const std::vector<Event> events = sink.events();
  size_t named = 0;
  for (const Event &event : ofType(events, EventType::kAllocate))
    if (event.block.block == block) {
      EXPECT_EQ(sink.names()[event.block.name], "state w");
      ++named;
    }
  EXPECT_EQ(named, 1u);
  std::set<uint32_t> bound;
  for (const Event &event : ofType(events, EventType::kRunBinding))
    if (event.runBinding.block == block)
      bound.insert(event.runBinding.value);
  EXPECT_EQ(bound, (std::set<uint32_t>{w, next}));
}

TEST_F(SessionTraceTest, ALateViewerReceivesThePlanAndTheLiveBlocks) {
  openChain(false, 1000);
  ASSERT_TRUE(runChain(1000).isOk());
  EXPECT_EQ(session_->statistics().recordings, 1u);
  MemorySink sink;
  ASSERT_TRUE(runChain(1000).isOk());
  ASSERT_TRUE(runChain(1000).isOk());
  const std::vector<Event> events = sink.events();
  expectRuns(events, 2);
  // The arena is one of the live blocks, and the transients of the plan lie in it.
  uint64_t arena = 0;
  uint64_t arenaBytes = 0;
  for (const Event &event : ofType(events, EventType::kArena))
    if (sink.names()[event.arena.name] == "arena") {
      arena = event.arena.block;
      arenaBytes = event.arena.sizeBytes;
    }
  uint64_t found = 0;
  for (const Event &event : ofType(events, EventType::kLiveBlock))
    if (event.block.block == arena) {
      found = event.block.sizeBytes;
      EXPECT_EQ(sink.names()[event.block.name], "arena");
    }
  EXPECT_EQ(found, arenaBytes);
  EXPECT_GT(found, 0u);
  for (const Event &event : ofType(events, EventType::kPlanEntry)) {
    EXPECT_FALSE(sink.names()[event.planEntry.name].empty());
    if (event.planEntry.storage == static_cast<uint8_t>(trace::EntryStorage::kTransient)) {
      EXPECT_LE(event.planEntry.offsetBytes + event.planEntry.sizeBytes, arenaBytes);
    }
  }
  for (const Event &event : ofType(events, EventType::kCommand))
    EXPECT_FALSE(sink.names()[event.command.name].empty());
  EXPECT_FALSE(ofType(events, EventType::kAccess).empty());
  ASSERT_TRUE(runChain(1000).isOk()) << "a run after the viewer has left";
}

TEST_F(SessionTraceTest, OnASoftwareDeviceTheFirstRunAndThenFewRunsHaveTimes) {
  if (device_->info().kind != device::DeviceKind::kSoftware || !device_->info().timestamps)
    GTEST_SKIP() << "not a software device with timestamps";
  unsetenv("GANTRY_TRACE_TIMES");
  openChain(false, 1000);
  // After a timed run, no run is timed for 500 times the cost of the run's timestamps, which is
  // 13,500 ns each (session_trace.cpp).
  const uint64_t pauseNs = (program_->metadata().commands()->size() + 1) * 13'500 * 500;
  for (int viewer = 0; viewer < 2; ++viewer) {
    MemorySink sink;
    const uint64_t start = trace::monotonicNs();
    size_t runs = 0;
    for (; trace::monotonicNs() - start < 20 * pauseNs; ++runs)
      ASSERT_TRUE(runChain(1000).isOk());
    const std::vector<Event> events = sink.events();
    const std::vector<Event> begins = ofType(events, EventType::kRun);
    ASSERT_EQ(begins.size(), runs);
    EXPECT_EQ(ofType(events, EventType::kRunEnd).size(), runs);
    std::set<uint32_t> ids;
    for (const Event &event : ofType(events, EventType::kDispatch))
      ids.insert(event.dispatch.run);
    EXPECT_LE(ids.size(), 21u);
    EXPECT_GE(ids.size(), 1u); // On a busy machine, runs may take so long that few are timed.
    if (viewer == 0) {
      EXPECT_TRUE(ids.contains(begins.front().run.run));
    }
  }
}

TEST_F(SessionTraceTest, AClockEventPrecedesTheDispatches) {
  if (!device_->info().timestamps)
    GTEST_SKIP() << "the device has no timestamps";
  openChain(true);
  MemorySink sink;
  ASSERT_TRUE(runChain(100).isOk());
  const std::vector<Event> events = sink.events();
  const auto at = [&](EventType type) {
    return std::find_if(events.begin(), events.end(),
                        [&](const Event &event) { return event.type() == type; }) -
           events.begin();
  };
  EXPECT_LT(at(EventType::kClock), at(EventType::kDispatch));
}

TEST_F(SessionTraceTest, ClockEventsContinueAlthoughFewRunsHaveTimes) {
  if (device_->info().kind != device::DeviceKind::kSoftware || !device_->info().timestamps)
    GTEST_SKIP() << "not a software device with timestamps";
  unsetenv("GANTRY_TRACE_TIMES");
  openChain(false, 1000);
  MemorySink sink;
  const uint64_t start = trace::monotonicNs();
  while (trace::monotonicNs() - start < 3'500'000'000)
    ASSERT_TRUE(runChain(1000).isOk());
  EXPECT_GE(ofType(sink.events(), EventType::kClock).size(), 3u);
}

TEST_F(SessionTraceTest, ASecondViewerReceivesAClockEventBeforeTheDispatches) {
  if (!device_->info().timestamps)
    GTEST_SKIP() << "the device has no timestamps";
  openChain(false, 1000);
  for (int viewer = 0; viewer < 3; ++viewer) {
    MemorySink sink;
    ASSERT_TRUE(runChain(1000).isOk());
    const std::vector<Event> events = sink.events();
    const auto at = [&](EventType type) {
      return std::find_if(events.begin(), events.end(),
                          [&](const Event &event) { return event.type() == type; }) -
             events.begin();
    };
    EXPECT_LT(at(EventType::kClock), at(EventType::kDispatch)) << "viewer " << viewer;
  }
}

TEST_F(SessionTraceTest, DispatchEventsHaveTheWorkgroupsThatRan) {
  if (!device_->info().timestamps)
    GTEST_SKIP() << "the device has no timestamps";
  options_.timestamps = true;
  openChain(true);
  MemorySink sink;
  ASSERT_TRUE(runChain(100).isOk());
  const std::vector<Event> events = sink.events();
  const std::vector<Event> commands = ofType(events, EventType::kCommand);
  for (const Event &event : ofType(events, EventType::kDispatch)) {
    const Result<DispatchInfo> ran = session_->dispatch(event.dispatch.command);
    ASSERT_TRUE(ran.isOk());
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(event.dispatch.workgroups[i], ran->workgroups[i]);
      EXPECT_EQ(commands[event.dispatch.command].command.workgroupSize[i], ran->workgroupSize[i]);
    }
  }
}

TEST_F(SessionTraceTest, ADonatedBufferIsReleasedBeforeItsRunEnds) {
  constexpr int64_t kCount = 1000;
  openChain(false, kCount);
  MemorySink sink;
  std::vector<float> in = ramp(kCount, 1);
  auto held = [&] {
    heap::HeapStatistics statistics;
    heap_->statistics(&statistics);
    uint64_t bytes = 0;
    for (const auto &kind : statistics.kinds)
      bytes += kind.liveBytes;
    return bytes;
  };
  auto input = makeBuffer(4 * kCount);
  auto output = makeBuffer(4 * kCount);
  std::memcpy(input.mapped(), in.data(), 4 * kCount);
  const uint64_t block = input.block();
  const uint64_t size = input.sizeBytes();
  TensorArgument inputs[1], outputs[1];
  inputs[0].shape.dims = {kCount};
  inputs[0].buffer = input;
  outputs[0].buffer = output;
  inputs[0].sizeBytes = outputs[0].sizeBytes = 4 * kCount;
  std::vector<OutputShape> shapes;
  auto earlier = session_->submit(inputs, outputs, shapes); // The test waits for this run last.
  ASSERT_TRUE(earlier.isOk()) << earlier.status().message();
  auto run = session_->submit(inputs, outputs, shapes);
  ASSERT_TRUE(run.isOk()) << run.status().message();
  inputs[0].buffer.reset();

  auto stranger = makeBuffer(256);
  EXPECT_EQ((*run)->donate(stranger).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(stranger);
  const Status written = (*run)->donate(output);
  EXPECT_EQ(written.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(written.message().find("only inputs can be donated"), std::string::npos);
  EXPECT_TRUE(output);
  const uint64_t before = held();
  ASSERT_TRUE((*run)->donate(input).isOk());
  EXPECT_FALSE(input);
  EXPECT_EQ(held(), before - size); // The block counts as free, although the run may still use it.
  ASSERT_TRUE(*(*run)->wait(UINT64_MAX));
  // An ended run refuses the same buffers.
  EXPECT_EQ((*run)->donate(stranger).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ((*run)->donate(output).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(*(*earlier)->wait(UINT64_MAX));
  std::vector<float> out(kCount);
  std::memcpy(out.data(), output.mapped(), 4 * kCount);
  expectChain(in, out);

  const std::vector<Event> events = sink.events();
  const auto at = [&](auto &&isIt) {
    return std::find_if(events.begin(), events.end(), isIt) - events.begin();
  };
  const auto donated = at([&](const Event &e) {
    return e.type() == EventType::kDonation && e.donation.block == block;
  });
  const auto released = at(
      [&](const Event &e) { return e.type() == EventType::kRelease && e.release.block == block; });
  const uint32_t id = ofType(events, EventType::kRun).back().run.run;
  const auto ended =
      at([&](const Event &e) { return e.type() == EventType::kRunEnd && e.run.run == id; });
  ASSERT_LT(donated, static_cast<ptrdiff_t>(events.size()));
  EXPECT_LT(donated, released);
  EXPECT_LT(released, ended);
  ASSERT_LT(ended, static_cast<ptrdiff_t>(events.size()));
  const trace::DonationEvent &donation = events[static_cast<size_t>(donated)].donation;
  EXPECT_EQ(donation.sizeBytes, size);
  EXPECT_EQ(donation.run, events[static_cast<size_t>(ended)].run.run);
  EXPECT_EQ(donation.value, program_->metadata().inputs()->Get(0)->value());
}

TEST_F(SessionTraceTest, ClockEventsRelateTheDeviceClockToTheHostClock) {
  if (!device_->info().timestamps)
    GTEST_SKIP() << "the device has no timestamps";
  openChain(false, 1000);
  MemorySink sink;
  ASSERT_TRUE(runChain(1000).isOk());
  ASSERT_TRUE(runChain(1000).isOk());
  const std::vector<Event> events = sink.events();
  const std::vector<Event> clocks = ofType(events, EventType::kClock);
  ASSERT_FALSE(clocks.empty());
  trace::DeviceClock clock;
  for (const Event &event : clocks) {
    clock.add(event.clock);
    EXPECT_EQ(event.clock.source, device_->info().calibratedClocks ? 1u : 2u);
  }
  EXPECT_FALSE(ofType(events, EventType::kBudget).empty());
  const std::vector<Event> begins = ofType(events, EventType::kRun);
  const std::vector<Event> ends = ofType(events, EventType::kRunEnd);
  const std::vector<Event> dispatches = ofType(events, EventType::kDispatch);
  ASSERT_FALSE(dispatches.empty());
  // Each dispatch must lie within its run on the host clock, with a tolerance of 5 ms.
  for (const Event &event : dispatches) {
    uint64_t error = 0;
    const uint64_t begin = clock.toHostNs(event.dispatch.gpu.beginNs, &error);
    const uint64_t end = clock.toHostNs(event.dispatch.gpu.endNs);
    const size_t run = event.dispatch.run - begins[0].run.run;
    ASSERT_LT(run, ends.size());
    EXPECT_GE(begin + error + 5'000'000, begins[run].header.timeNs);
    EXPECT_LE(end, ends[run].header.timeNs + error + 5'000'000);
  }
}

} // namespace
} // namespace gantry::program

// Every host allocation and every driver call failing in turn, and in pairs; and the device lost at
// every submission.
#include "tests/engine/heap/failing_host.h"
#include "tests/engine/heap/heap_fixture.h"

#include <cstring>
#include <ctime>
#include <functional>

namespace gantry::heap {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kAtOnceMs = 20;
#else
constexpr double kAtOnceMs = 1;
#endif

double cpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Does a little of everything; counts what was refused. After a refusal nothing may have changed.
class Scenario {
public:
  Scenario(std::shared_ptr<test::FakeDevice> gpu, const HostAllocator &host, bool lossy)
      : gpu_(std::move(gpu)), lossy_(lossy) {
    options_.host = host;
    options_.allowSpill = true;
    options_.dedicatedBytes = kMiB;
  }

  void run() {
    Result<HeapPtr> made = Heap::create(gpu_, options_);
    if (!made.isOk()) {
      EXPECT_EQ(made.status().code(), StatusCode::kOutOfMemory);
      ++refused;
      return;
    }
    heap_ = made.take();
    const NameId name = heap_->intern("a name");
    for (int i = 0; i < 40; ++i) {
      BufferRequest request;
      request.sizeBytes = i % 10 == 0 ? 2 * kMiB : 1000 + 5000 * static_cast<uint64_t>(i);
      request.name = name;
      request.movable = i % 2 == 0;
      request.spillable = i % 5 == 0;
      request.kind = i % 7 == 0 ? MemoryKind::kUpload : MemoryKind::kDevice;
      allocate(request);
    }
    for (size_t i = 0; i < live_.size(); i += 3) {
      const TimelinePoint point{0, submit()};
      released(heap_->release(live_[i], {&point, 1}));
      live_[i] = {};
    }
    judge([&] { return heap_->poll(); });
    for (int i = 0; i < 4; ++i)
      judge([&] { return heap_->compact(kMiB); });
    for (const BufferHandle buffer : live_) {
      Placement at;
      if (!buffer)
        continue;
      judge([&] {
        const HeapCode code = heap_->spill(buffer);
        return code == HeapCode::kInvalidArgument ? HeapCode::kOk : code;
      });
      judge([&] {
        const HeapCode code = heap_->pin(buffer, &at);
        return code == HeapCode::kOk ? heap_->unpin(buffer) : code;
      });
    }
    BufferRequest large;
    large.sizeBytes = 12 * kMiB;
    allocate(large);
    (void)heap_->trim();
    EXPECT_EQ(heap_->validate(), nullptr) << heap_->validate();
    for (const BufferHandle buffer : live_)
      if (buffer)
        released(heap_->release(buffer));
    HeapStatistics all;
    heap_->statistics(&all);
    for (const KindStatistics &kind : all.kinds)
      EXPECT_EQ(kind.liveBytes, 0U);
    EXPECT_EQ(heap_->validate(), nullptr) << heap_->validate();
    char report[512];
    heap_->writeReport(report);
    heap_.reset();
  }

  uint64_t refused = 0;
  double slowestMs = 0; // of calls after the device was lost

private:
  // Refusals are answers; what they may not do is change what is alive.
  void judge(const std::function<HeapCode()> &call) {
    HeapStatistics before;
    heap_->statistics(&before);
    const bool lost = gpu_->isLost();
    const double start = cpuMs();
    const HeapCode code = call();
    if (lost)
      slowestMs = std::max(slowestMs, cpuMs() - start);
    if (code == HeapCode::kOk)
      return;
    ++refused;
    EXPECT_TRUE(code == HeapCode::kExhausted || code == HeapCode::kHostExhausted ||
                code == HeapCode::kOverBudget || code == HeapCode::kBusy ||
                (lossy_ && code == HeapCode::kDeviceLost))
        << heapCodeName(code);
    HeapStatistics after;
    heap_->statistics(&after);
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
      EXPECT_EQ(before.kinds[kind].liveBytes, after.kinds[kind].liveBytes);
      EXPECT_EQ(before.kinds[kind].liveBuffers, after.kinds[kind].liveBuffers);
    }
    EXPECT_EQ(heap_->validate(), nullptr) << heap_->validate();
  }
  void allocate(const BufferRequest &request) {
    judge([&] {
      BufferHandle buffer;
      const HeapCode code = heap_->allocate(request, &buffer);
      EXPECT_EQ(code == HeapCode::kOk, static_cast<bool>(buffer));
      if (code == HeapCode::kOk)
        live_.push_back(buffer);
      return code;
    });
  }
  void released(HeapCode code) { EXPECT_EQ(code, HeapCode::kOk) << heapCodeName(code); }
  uint64_t submit() {
    auto list = gpu_->createCommandList();
    if (!list.isOk() || !(*list)->begin({}).isOk() || !(*list)->end().isOk())
      return 0;
    const Result<uint64_t> ticket = gpu_->submit(**list);
    return ticket.isOk() ? *ticket : 0;
  }

  std::shared_ptr<test::FakeDevice> gpu_;
  bool lossy_;
  HeapOptions options_;
  HeapPtr heap_;
  std::vector<BufferHandle> live_;
};

std::shared_ptr<test::FakeDevice> smallDevice() {
  test::FakeConfig config;
  config.heaps = {{20 * kMiB, true}, {20 * kMiB, false}};
  config.types = {{0, true, false, false, false}, {1, false, true, true, true}};
  config.memoryBudgets = true;
  return test::FakeDevice::create(config);
}

void checkEmpty(const test::FakeDevice &gpu, const FailingHost &host) {
  EXPECT_EQ(gpu.counts().liveBytes, 0U);
  EXPECT_EQ(gpu.counts().liveMemories, 0U);
  EXPECT_EQ(gpu.counts().liveLists, 0U);
  EXPECT_EQ(gpu.violations(), 0U) << gpu.lastViolation();
  EXPECT_EQ(host.liveBytes(), 0U);
}

TEST(HeapFaults, EveryHostAllocationFailsInTurn) {
  uint64_t count = 1;
  uint64_t refusals = 0;
  for (uint64_t k = 0; k <= count; ++k) {
    SCOPED_TRACE(testing::Message() << "host allocation " << k);
    FailingHost host(k == 0 ? UINT64_MAX : k);
    auto gpu = smallDevice();
    Scenario scenario(gpu, host.allocator(), false);
    scenario.run();
    checkEmpty(*gpu, host);
    if (k == 0)
      count = host.calls();
    else
      refusals += scenario.refused;
  }
  EXPECT_GT(count, 40U);
  EXPECT_GE(refusals, 30U) << "faults that nobody notices are no faults";
}

TEST(HeapFaults, PairsOfHostAllocationsFail) {
  FailingHost counter;
  Scenario(smallDevice(), counter.allocator(), false).run();
  for (uint64_t k = 1; k <= counter.calls(); k += 3) {
    for (uint64_t second = k + 1; second <= counter.calls(); second += 7) {
      SCOPED_TRACE(testing::Message() << "host allocations " << k << " and " << second);
      FailingHost host(k, second);
      auto gpu = smallDevice();
      Scenario(gpu, host.allocator(), false).run();
      checkEmpty(*gpu, host);
    }
  }
}

TEST(HeapFaults, EveryDriverCallFailsInTurnAndInPairs) {
  FailingHost host;
  auto counting = smallDevice();
  Scenario(counting, host.allocator(), false).run();
  const uint64_t count = counting->counts().driverCalls;
  EXPECT_GT(count, 60U);
  uint64_t refusals = 0;
  for (uint64_t k = 1; k <= count; ++k) {
    for (const uint64_t again : {uint64_t{0}, uint64_t{1}, uint64_t{5}}) {
      SCOPED_TRACE(testing::Message() << "driver call " << k << ", again " << again);
      auto gpu = smallDevice();
      gpu->failCall(k, StatusCode::kOutOfMemory, again);
      Scenario scenario(gpu, host.allocator(), false);
      scenario.run();
      refusals += scenario.refused;
      checkEmpty(*gpu, host);
    }
  }
  EXPECT_GT(refusals, 0U);
}

TEST(HeapFaults, ALostDeviceAnswersAtOnceAndCanBeTornDown) {
  FailingHost host;
  auto counting = smallDevice();
  Scenario(counting, host.allocator(), false).run();
  const uint64_t submissions = counting->counts().submissions;
  ASSERT_GT(submissions, 10U);
  for (uint64_t k = 1; k <= submissions; ++k) {
    SCOPED_TRACE(testing::Message() << "lost at submission " << k);
    auto gpu = smallDevice();
    gpu->loseAtSubmission(k);
    Scenario scenario(gpu, host.allocator(), true);
    scenario.run();
    EXPECT_TRUE(gpu->isLost());
    EXPECT_GT(scenario.refused, 0U);
    EXPECT_LT(scenario.slowestMs, kAtOnceMs);
    checkEmpty(*gpu, host);
  }
}

} // namespace
} // namespace gantry::heap

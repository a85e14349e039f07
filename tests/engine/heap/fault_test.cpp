// Runs FaultScenario with injected faults: each host allocation and each driver call fails in turn
// and in pairs, and the device is lost at each submission. Nothing may leak.
#include "tests/engine/heap/failing_host.h"
#include "tests/engine/heap/fault_scenario.h"
#include "tests/engine/heap/heap_fixture.h"

namespace gantry::heap {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMaxLostCallMs = 20; // Maximum CPU time of a call on a lost device.
#else
constexpr double kMaxLostCallMs = 1;
#endif

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
    FaultScenario scenario(gpu, host.allocator(), false);
    scenario.run();
    checkEmpty(*gpu, host);
    if (k == 0)
      count = host.calls();
    else
      refusals += scenario.refused;
  }
  EXPECT_GT(count, 40U);
  EXPECT_GE(refusals, 30U) << "too few of the faults reached a call";
}

TEST(HeapFaults, PairsOfHostAllocationsFail) {
  FailingHost counter;
  FaultScenario(smallDevice(), counter.allocator(), false).run();
  for (uint64_t k = 1; k <= counter.calls(); k += 3) {
    for (uint64_t second = k + 1; second <= counter.calls(); second += 7) {
      SCOPED_TRACE(testing::Message() << "host allocations " << k << " and " << second);
      FailingHost host(k, second);
      auto gpu = smallDevice();
      FaultScenario(gpu, host.allocator(), false).run();
      checkEmpty(*gpu, host);
    }
  }
}

TEST(HeapFaults, EveryDriverCallFailsInTurnAndInPairs) {
  FailingHost host;
  auto counting = smallDevice();
  FaultScenario(counting, host.allocator(), false).run();
  const uint64_t count = counting->counts().driverCalls;
  EXPECT_GT(count, 60U);
  uint64_t refusals = 0;
  for (uint64_t k = 1; k <= count; ++k) {
    for (const uint64_t again : {uint64_t{0}, uint64_t{1}, uint64_t{5}}) {
      SCOPED_TRACE(testing::Message() << "driver call " << k << ", again " << again);
      auto gpu = smallDevice();
      gpu->failCall(k, StatusCode::kOutOfMemory, again);
      FaultScenario scenario(gpu, host.allocator(), false);
      scenario.run();
      refusals += scenario.refused;
      checkEmpty(*gpu, host);
    }
  }
  EXPECT_GT(refusals, 0U);
}

TEST(HeapFaults, CallsOnALostDeviceReturnAtOnceAndNothingLeaks) {
  FailingHost host;
  auto counting = smallDevice();
  FaultScenario(counting, host.allocator(), false).run();
  const uint64_t submissions = counting->counts().submissions;
  ASSERT_GT(submissions, 10U);
  for (uint64_t k = 1; k <= submissions; ++k) {
    SCOPED_TRACE(testing::Message() << "lost at submission " << k);
    auto gpu = smallDevice();
    gpu->loseAtSubmission(k);
    FaultScenario scenario(gpu, host.allocator(), true);
    scenario.run();
    EXPECT_TRUE(gpu->isLost());
    EXPECT_GT(scenario.refused, 0U);
    EXPECT_LT(scenario.slowestMs, kMaxLostCallMs);
    checkEmpty(*gpu, host);
  }
}

} // namespace
} // namespace gantry::heap

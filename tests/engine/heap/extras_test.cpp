// Tests of step plans, growing arrays and frame rings (step_plan.h, growing_array.h and
// frame_ring.h of engine/heap/extras).
#include "engine/heap/extras/frame_ring.h"
#include "engine/heap/extras/growing_array.h"
#include "engine/heap/extras/step_plan.h"
#include "tests/engine/heap/failing_host.h"
#include "tests/engine/heap/heap_fixture.h"

#include <cstring>
#include <random>

namespace gantry::heap {
namespace {

class ExtrasTest : public HeapTest {
protected:
  // Runs a step like a training step, with allocations of random sizes and lifetimes. Fills each
  // allocation with a byte and checks later that no other allocation overwrote it. Returns the
  // number of allocations that came from the plan's arena. If `keep` is given, the step also makes
  // an allocation that it does not free.
  int step(StepPlan &plan, uint32_t seed, BufferHandle *keep = nullptr) {
    std::mt19937 random(seed);
    struct One {
      StepAllocation allocation;
      uint8_t fill;
    };
    std::vector<One> alive;
    int planned = 0;
    EXPECT_EQ(plan.begin(), HeapCode::kOk);
    for (int i = 0; i < 200; ++i) {
      if (alive.empty() || random() % 2 == 0) {
        One one{{}, static_cast<uint8_t>(random())};
        const uint64_t size = 1 + random() % 50000;
        EXPECT_EQ(plan.allocate(size, 256, &one.allocation), HeapCode::kOk);
        std::memset(bytes(one.allocation.buffer) + one.allocation.offsetBytes, one.fill, size);
        planned += placed(one.allocation.buffer).sizeBytes != size ? 1 : 0;
        alive.push_back(one);
      } else {
        const size_t at = random() % alive.size();
        check(alive[at].allocation, alive[at].fill);
        EXPECT_EQ(plan.free(alive[at].allocation), HeapCode::kOk);
        EXPECT_EQ(plan.free(alive[at].allocation), HeapCode::kStaleHandle);
        alive[at] = alive.back();
        alive.pop_back();
      }
    }
    for (const One &one : alive) {
      check(one.allocation, one.fill);
      EXPECT_EQ(plan.free(one.allocation), HeapCode::kOk);
    }
    if (keep != nullptr) {
      StepAllocation kept;
      EXPECT_EQ(plan.allocate(777, 256, &kept), HeapCode::kOk);
      *keep = kept.buffer;
    }
    EXPECT_EQ(plan.end(), HeapCode::kOk);
    return planned;
  }
  void check(const StepAllocation &allocation, uint8_t fill) {
    const uint8_t *data = bytes(allocation.buffer) + allocation.offsetBytes;
    for (uint64_t i = 0; i < allocation.sizeBytes; ++i)
      ASSERT_EQ(data[i], fill);
  }
};

TEST_F(ExtrasTest, StepsAfterTheFirstComeFromOneArena) {
  StepPlan plan(*heap, MemoryKind::kDevice);
  EXPECT_EQ(step(plan, 1), 0);
  EXPECT_EQ(plan.statistics().plans, 1U);
  EXPECT_LE(static_cast<double>(plan.statistics().arenaBytes),
            1.02 * static_cast<double>(plan.statistics().lowerBoundBytes));
  const uint64_t before = gpu->counts().driverCalls;
  for (int i = 0; i < 5; ++i)
    EXPECT_GT(step(plan, 1), 90);
  EXPECT_EQ(gpu->counts().driverCalls, before);
  EXPECT_EQ(plan.statistics().deviations, 0U);
  EXPECT_EQ(plan.statistics().plans, 1U);
}

TEST_F(ExtrasTest, AStepThatDiffersIsServedByTheHeapAndBecomesThePlan) {
  StepPlan plan(*heap, MemoryKind::kDevice);
  step(plan, 1);
  EXPECT_LT(step(plan, 2), 90) << "the heap serves the step from the first difference on";
  EXPECT_EQ(plan.statistics().deviations, 1U);
  EXPECT_GT(step(plan, 2), 90);
  EXPECT_EQ(plan.statistics().plans, 2U);
}

TEST_F(ExtrasTest, AllocationsThatOutliveTheirStepAreBuffersOfTheHeap) {
  StepPlan plan(*heap, MemoryKind::kDevice);
  BufferHandle first;
  BufferHandle second;
  step(plan, 3, &first);
  step(plan, 3, &second);
  EXPECT_EQ(plan.statistics().deviations, 0U);
  EXPECT_NE(first.bits, second.bits);
  EXPECT_EQ(placed(first).sizeBytes, 777U);
}

TEST_F(ExtrasTest, AStepDoesNotUseTheArenaWhileAnAllocationOfAnEarlierStepLiesInIt) {
  StepPlan plan(*heap, MemoryKind::kDevice);
  StepAllocation allocation;
  for (int i = 0; i < 2; ++i) { // The second step comes from the arena, but frees too late.
    ASSERT_EQ(plan.begin(), HeapCode::kOk);
    ASSERT_EQ(plan.allocate(1000, 256, &allocation), HeapCode::kOk);
    if (i == 0) {
      ASSERT_EQ(plan.free(allocation), HeapCode::kOk);
    }
    ASSERT_EQ(plan.end(), HeapCode::kOk);
  }
  std::memset(bytes(allocation.buffer) + allocation.offsetBytes, 7, 1000);
  ASSERT_EQ(plan.begin(), HeapCode::kOk);
  StepAllocation other;
  ASSERT_EQ(plan.allocate(1000, 256, &other), HeapCode::kOk);
  EXPECT_NE(bytes(other.buffer) + other.offsetBytes,
            bytes(allocation.buffer) + allocation.offsetBytes);
  std::memset(bytes(other.buffer) + other.offsetBytes, 8, 1000);
  check(allocation, 7);
  EXPECT_EQ(plan.free(other), HeapCode::kOk);
  EXPECT_EQ(plan.free(allocation), HeapCode::kOk);
  EXPECT_EQ(plan.end(), HeapCode::kOk);
}

TEST_F(ExtrasTest, StepPlansReportAFailingHost) {
  for (uint64_t k = 1; k <= 12; ++k) {
    FailingHost host(k);
    {
      StepPlan plan(*heap, MemoryKind::kDevice, host.allocator());
      for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(plan.begin(), HeapCode::kOk);
        EXPECT_EQ(plan.begin(), HeapCode::kBusy);
        for (int i = 0; i < 100; ++i) {
          StepAllocation one;
          const HeapCode code = plan.allocate(1000, 256, &one);
          EXPECT_TRUE(code == HeapCode::kOk || code == HeapCode::kHostExhausted);
          if (code == HeapCode::kOk) {
            EXPECT_EQ(plan.free(one), HeapCode::kOk);
          }
        }
        const HeapCode code = plan.end();
        EXPECT_TRUE(code == HeapCode::kOk || code == HeapCode::kHostExhausted);
      }
    }
    EXPECT_EQ(host.liveBytes(), 0U);
    EXPECT_EQ(stats().liveBuffers, 0U);
  }
}

TEST_F(ExtrasTest, ArraysGrowInPlace) {
  GrowingArray array(gpu);
  EXPECT_EQ(array.grow(1), HeapCode::kTooLarge) << "nothing is reserved";
  ASSERT_EQ(array.reserve(64 * kMiB), HeapCode::kOk);
  EXPECT_EQ(array.reserve(64 * kMiB), HeapCode::kInvalidArgument);
  EXPECT_EQ(array.committedBytes(), 0U);
  const uint64_t address = array.address();
  uint64_t copied = gpu->counts().copiedBytes;
  for (uint64_t size = 1; size < 64 * kMiB; size = size * 3 + 5) {
    ASSERT_EQ(array.grow(size), HeapCode::kOk);
    EXPECT_GE(array.committedBytes(), size);
    EXPECT_EQ(array.address(), address);
    EXPECT_EQ(gpu->counts().liveBytes, array.committedBytes());
  }
  EXPECT_EQ(gpu->counts().copiedBytes, copied);
  EXPECT_EQ(array.grow(64 * kMiB + 1), HeapCode::kTooLarge);
  ASSERT_EQ(array.grow(64 * kMiB), HeapCode::kOk);
  ASSERT_EQ(array.shrink(kMiB), HeapCode::kOk);
  EXPECT_EQ(array.committedBytes(), kMiB);
  gpu->failAllocation(1);
  EXPECT_EQ(array.grow(2 * kMiB - 1), HeapCode::kExhausted);
  EXPECT_EQ(array.committedBytes(), kMiB);
}

TEST_F(ExtrasTest, ArraysNeedVirtualMemory) {
  test::FakeConfig config;
  config.virtualMemory = false;
  make({}, config);
  GrowingArray array(gpu);
  EXPECT_EQ(array.reserve(kMiB), HeapCode::kUnsupported);
}

TEST_F(ExtrasTest, RingsReuseTheMemoryOfFramesThatAreDone) {
  FrameRing ring(*heap);
  ASSERT_EQ(ring.create(kMiB, MemoryKind::kUpload), HeapCode::kOk);
  gpu->hold();
  Placement at;
  std::vector<Placement> frame;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ring.allocate(300000, 256, &at), HeapCode::kOk);
    ASSERT_NE(at.mapped, nullptr);
    for (const Placement &other : frame)
      EXPECT_TRUE(at.offsetBytes >= other.offsetBytes + 300000 ||
                  other.offsetBytes >= at.offsetBytes + 300000);
    frame.push_back(at);
    ASSERT_EQ(ring.endFrame(submit()), HeapCode::kOk);
  }
  EXPECT_EQ(ring.allocate(300000, 256, &at), HeapCode::kBusy);
  gpu->release(1);
  ASSERT_EQ(ring.allocate(300000, 256, &at), HeapCode::kOk);
  EXPECT_EQ(at.offsetBytes, frame[0].offsetBytes) << "the ring reuses the range of the first frame";
  EXPECT_EQ(ring.allocate(300000, 256, &at), HeapCode::kBusy);
  EXPECT_EQ(ring.allocate(2 * kMiB, 256, &at), HeapCode::kTooLarge);
  EXPECT_EQ(ring.allocate(0, 256, &at), HeapCode::kInvalidArgument);
  EXPECT_EQ(gpu->counts().waits, 0U);
  gpu->release();
  ring.reset();
  EXPECT_EQ(ring.usedBytes(), 0U);
}

} // namespace
} // namespace gantry::heap

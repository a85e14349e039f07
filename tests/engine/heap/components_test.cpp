// Tests of the retention policy (engine/heap/retention.h), alone and in a heap, of the counters of
// live bytes (engine/heap/counters.h), of records whose generations are used up
// (engine/heap/buffer_record.h), and of the reuse of slabs (engine/heap/growth.h).
#include "engine/heap/counters.h"
#include "engine/heap/heap_components.h"
#include "engine/heap/retention.h"
#include "tests/engine/heap/heap_fixture.h"

#include <random>

namespace gantry::heap {
namespace {

TEST(Retention, BecomesQuickAfterEnoughRetakes) {
  Retention retention;
  const uint64_t live = 1000 * kMiB;
  const uint64_t tight = retention.targetBytes(live, 1200 * kMiB, 1.05);
  EXPECT_EQ(tight, static_cast<uint64_t>(1.05 * static_cast<double>(live)));
  const uint64_t slab = retention.slabBytes(false, live);
  for (uint32_t i = 0; i < 1000; ++i)
    retention.noteTaken(1201 * kMiB, 1200 * kMiB); // No retake: it raises the peak.
  for (uint32_t i = 0; i < Retention::kRetakesUntilQuick - 1; ++i)
    retention.noteTaken(1200 * kMiB, 1200 * kMiB);
  EXPECT_FALSE(retention.isQuick());
  EXPECT_EQ(retention.targetBytes(live, 1200 * kMiB, 1.05), tight);
  retention.noteTaken(1200 * kMiB, 1200 * kMiB);
  EXPECT_TRUE(retention.isQuick());
  EXPECT_EQ(retention.targetBytes(live, 1200 * kMiB, 1.05), 1200 * kMiB);
  EXPECT_EQ(retention.targetBytes(live, 1000 * kMiB, 1.05), tight);
  EXPECT_GT(retention.slabBytes(false, live), slab);
  EXPECT_EQ(retention.slabBytes(false, live) % Retention::kSlabGranule, 0U);
  retention.forget();
  EXPECT_FALSE(retention.isQuick());
  EXPECT_EQ(retention.targetBytes(live, 1200 * kMiB, 1.05), tight);
}

TEST(LiveCounter, LargeBuffersSeldomUpdateTheTotals) {
  KindTotals totals;
  LiveCounter counter;
  const auto updates = [&](bool isNeeded) {
    if (isNeeded)
      counter.publish(totals);
    return isNeeded;
  };
  EXPECT_TRUE(updates(counter.add(kMiB)));
  EXPECT_FALSE(updates(counter.add(kMiB - 1)));
  EXPECT_TRUE(updates(counter.add(1)));
  EXPECT_TRUE(updates(counter.add(1022 * kMiB)));
  for (int i = 0; i < 15; ++i)
    EXPECT_FALSE(updates(counter.add(2 * kMiB)));
  EXPECT_EQ(totals.publishedLive.load(), 1024 * kMiB);
  EXPECT_EQ(totals.publishedLive.load() + counter.unpublishedPeak(), 1054 * kMiB);
  EXPECT_TRUE(updates(counter.add(2 * kMiB)));
  EXPECT_EQ(totals.peakLive.load(), 1056 * kMiB);
  EXPECT_FALSE(updates(counter.remove(32 * kMiB)));
  EXPECT_TRUE(updates(counter.remove(kMiB)));
  EXPECT_EQ(totals.publishedLive.load(), 1023 * kMiB);
  EXPECT_EQ(totals.peakLive.load(), 1056 * kMiB);
}

TEST_F(HeapTest, ARetiredRecordIsNotUsedAgain) {
  drop(take(4096));
  BufferRequest request;
  for (const uint64_t size : {uint64_t{4096}, 100 * kKiB, 101 * kKiB}) {
    request.sizeBytes = size;
    request.movable = size > 100 * kKiB;
    heap->trim();
    const BufferHandle first = take(request);
    BufferHandle last = take(request);
    const uint32_t index = indexOf(last);
    heap->components().handles.record(index).generation = kRetiredGeneration - 1;
    last = heap->components().handles.handle(index);
    drop(last);
    std::vector<BufferHandle> live;
    for (int i = 0; i < 2000; ++i) {
      live.push_back(take(request));
      EXPECT_NE(indexOf(live.back()), index);
    }
    EXPECT_EQ(heap->release(last), HeapCode::kStaleHandle);
    EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
    for (const BufferHandle buffer : live)
      drop(buffer);
    drop(first);
    EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
    heap->trim();
    EXPECT_EQ(stats().usedBytes, 0U) << "the range of a retired record is lost";
  }
}

// Each step allocates buffers of the same sizes and releases them in a random order. The first
// steps reserve enough memory for the later ones.
TEST_F(HeapTest, RepeatedStepsAllocateNoNewSlabs) {
  std::mt19937 random(3);
  std::vector<uint64_t> sizes;
  for (int i = 0; i < 300; ++i)
    sizes.push_back(((uint64_t{1} << (8 + random() % 13)) + random() % 1000));
  const auto step = [&] {
    const uint64_t before = gpu->counts().allocations;
    std::vector<BufferHandle> live;
    for (int round = 0; round < 10; ++round) {
      for (const uint64_t size : sizes)
        live.push_back(take(size));
      std::shuffle(live.begin(), live.end(), random);
      for (size_t i = 0; i < sizes.size() / 2 * (round > 0 ? 2 : 1); ++i, live.pop_back())
        drop(live.back());
    }
    for (const BufferHandle buffer : live)
      drop(buffer);
    return gpu->counts().allocations - before;
  };
  EXPECT_GT(step(), 10U);
  step();
  EXPECT_EQ(step(), 0U);
  EXPECT_EQ(step(), 0U);
}

// An empty slab of the large pool (buffers above 64 KiB) serves the small pool, and vice versa,
// even before the target is exceeded, if its own pool has no used range (growth.h, step 2).
TEST_F(HeapTest, EmptySlabsAreReusedInOtherPools) {
  const auto fill = [&](uint64_t sizeBytes) {
    const uint64_t before = gpu->counts().allocations;
    std::vector<BufferHandle> live;
    for (uint64_t i = 0; i < 60 * kMiB / sizeBytes; ++i)
      live.push_back(take(sizeBytes));
    EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
    for (const BufferHandle buffer : live)
      drop(buffer);
    return gpu->counts().allocations - before;
  };
  EXPECT_GT(fill(kMiB), 10U);
  EXPECT_EQ(fill(16 * kKiB), 0U);
  EXPECT_LE(stats().peakReservedBytes, 63 * kMiB);
  EXPECT_EQ(fill(kMiB), 0U);
  EXPECT_EQ(fill(16 * kKiB), 0U);
}

// Allocates random sizes over a wide range, with a bounded sum. The memory kind becomes
// quick (retention.h), and the heap keeps its slabs.
TEST_F(HeapTest, KeepsSlabsAfterManyRetakes) {
  test::FakeConfig config;
  config.heaps[0].sizeBytes = uint64_t{1} << 40;
  make({}, config);
  std::mt19937 random(7);
  const auto phase = [&] {
    std::vector<std::pair<BufferHandle, uint64_t>> live;
    uint64_t sum = 0;
    const uint64_t before = gpu->counts().allocations;
    for (int i = 0; i < 20000; ++i) {
      const uint64_t size = (uint64_t{1} << (10 + random() % 16)) + random() % 1000;
      while (sum + size > 300 * kMiB) {
        std::swap(live[random() % live.size()], live.back());
        drop(live.back().first);
        sum -= live.back().second;
        live.pop_back();
      }
      live.emplace_back(take(size), size);
      sum += size;
    }
    for (const auto &[buffer, size] : live)
      drop(buffer);
    return gpu->counts().allocations - before;
  };
  const uint64_t first = phase();
  phase();
  const uint64_t third = phase();
  EXPECT_LT(first, 200U);
  EXPECT_LT(third, 20U) << "the first phase allocated " << first << " slabs";
  EXPECT_LT(third, 1 + first / 7) << "the first phase allocated " << first << " slabs";
  EXPECT_GT(heap->trim(), 0U);
  EXPECT_EQ(gpu->counts().liveBytes, 0U);
}

} // namespace
} // namespace gantry::heap

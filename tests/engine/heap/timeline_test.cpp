// Tests of releases with timeline points, and of OrderedReuse (engine/heap/extras/ordered_reuse.h),
// which makes ordered allocations: they may get pending ranges.
#include "tests/engine/heap/heap_fixture.h"

namespace gantry::heap {
namespace {

class TimelineTest : public HeapTest {
protected:
  using HeapTest::takeAfter;
  BufferHandle takeAfter(uint64_t sizeBytes, std::span<const TimelinePoint> after) {
    BufferRequest request;
    request.sizeBytes = sizeBytes;
    return takeAfter(request, after);
  }
};

TEST_F(TimelineTest, ARangeIsPendingUntilItsPointsHavePassed) {
  gpu->hold();
  const BufferHandle a = take(100000);
  const Placement old = placed(a);
  const TimelinePoint point{0, submit()};
  drop(a, {&point, 1});
  EXPECT_GE(stats().pendingBytes, 100000U);
  EXPECT_EQ(stats().liveBytes, 0U);
  const BufferHandle b = take(100000);
  EXPECT_NE(placed(b).offsetBytes, old.offsetBytes) << "b is not ordered after the work on a";
  EXPECT_EQ(heap->poll(), HeapCode::kOk);
  EXPECT_GE(stats().pendingBytes, 100000U) << "still in flight";
  gpu->release();
  EXPECT_EQ(heap->poll(), HeapCode::kOk);
  EXPECT_EQ(stats().pendingBytes, 0U);
  drop(b);
  EXPECT_EQ(all.hostWaits, 0U);
}

TEST_F(TimelineTest, OrderedAllocationsGetPendingRanges) {
  gpu->hold();
  for (const uint64_t size : {uint64_t{5000}, uint64_t{300000}, 30 * kMiB}) {
    const BufferHandle a = take(size);
    const Placement old = placed(a);
    const TimelinePoint point{0, submit()};
    drop(a, {&point, 1});
    const TimelinePoint earlier{0, point.value - 1};
    if (earlier.value > 0) {
      const BufferHandle c = takeAfter(size, {&earlier, 1});
      EXPECT_FALSE(placed(c).memory == old.memory && placed(c).offsetBytes == old.offsetBytes);
      drop(c);
    }
    const BufferHandle b = takeAfter(size, {&point, 1});
    EXPECT_EQ(placed(b).memory, old.memory);
    EXPECT_EQ(placed(b).offsetBytes, old.offsetBytes);
    EXPECT_EQ(heap->release(a), HeapCode::kStaleHandle);
    drop(b, {&point, 1});
  }
  heap->statistics(&all);
  EXPECT_EQ(all.hostWaits, 0U);
  EXPECT_EQ(ordered->reuses(), 3U);
  EXPECT_EQ(gpu->counts().waits, 0U);
  gpu->release();
}

TEST_F(TimelineTest, AnOrderedBufferInheritsThePointsOfItsRange) {
  gpu->hold();
  const BufferHandle a = take(5000);
  const Placement old = placed(a);
  const TimelinePoint point{0, submit()};
  drop(a, {&point, 1});
  drop(takeAfter(5000, {&point, 1})); // released without points, but the work of `a` still runs
  const BufferHandle c = take(5000);
  EXPECT_FALSE(placed(c).memory == old.memory && placed(c).offsetBytes == old.offsetBytes);
  EXPECT_GT(stats().pendingBytes, 0U);
  gpu->release();
  EXPECT_EQ(heap->poll(), HeapCode::kOk);
  EXPECT_EQ(stats().pendingBytes, 0U);
  drop(c);
}

TEST_F(TimelineTest, APendingRangeThatIsTooLongIsCut) {
  gpu->hold();
  const BufferHandle a = take(kMiB);
  const TimelinePoint point{0, submit()};
  drop(a, {&point, 1});
  std::vector<BufferHandle> parts;
  for (int i = 0; i < 4; ++i)
    parts.push_back(takeAfter(kMiB / 4, {&point, 1}));
  EXPECT_EQ(stats().pendingBytes, 0U);
  EXPECT_EQ(ordered->reuses(), 4U);
  EXPECT_EQ(validate(*heap), nullptr);
  for (const BufferHandle part : parts)
    drop(part);
  gpu->release();
}

TEST_F(TimelineTest, RangesAlsoWaitForTheCallersTimelines) {
  const uint32_t mine = heap->addTimeline();
  ASSERT_EQ(mine, 1U);
  const TimelinePoint points[] = {{mine, 7}, {0, submit()}};
  const BufferHandle a = take(100000);
  drop(a, points);
  EXPECT_EQ(heap->poll(), HeapCode::kOk);
  EXPECT_GE(stats().pendingBytes, 100000U);
  EXPECT_EQ(heap->advance(mine, 6), HeapCode::kOk);
  EXPECT_GE(stats().pendingBytes, 100000U);
  EXPECT_EQ(heap->advance(mine, 7), HeapCode::kOk);
  EXPECT_EQ(stats().pendingBytes, 0U);
  EXPECT_EQ(heap->advance(0, 7), HeapCode::kInvalidArgument);
  EXPECT_EQ(heap->advance(2, 7), HeapCode::kInvalidArgument);
  EXPECT_EQ(heap->addTimeline(), 2U);
  EXPECT_EQ(heap->addTimeline(), 3U);
  EXPECT_EQ(heap->addTimeline(), 0U);
}

// Three neighbouring pending ranges are joined, whatever the order in which they were released. The
// new buffer gets the first part of the joined range, and the rest stays pending.
TEST_F(TimelineTest, NeighbouringPendingRangesAreJoined) {
  gpu->hold();
  drop(take(64 * kKiB)); // makes a slab
  const uint32_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}};
  for (const auto &order : orders) {
    BufferHandle small[3];
    for (BufferHandle &buffer : small)
      buffer = take(7000);
    const Placement first = placed(small[0]);
    ASSERT_EQ(placed(small[2]).offsetBytes, first.offsetBytes + 2 * 7168);
    const TimelinePoint point{0, submit()};
    for (const uint32_t i : order) {
      drop(small[i], {&point, 1});
      ASSERT_EQ(validate(*heap), nullptr) << validate(*heap);
    }
    BufferRequest request;
    request.sizeBytes = 2 * 7168 + 100; // More than two of the ranges.
    request.movable = true;
    const BufferHandle joined = takeAfter(request, {&point, 1});
    EXPECT_EQ(placed(joined).offsetBytes, first.offsetBytes);
    ASSERT_EQ(validate(*heap), nullptr) << validate(*heap);
    for (const BufferHandle buffer : small)
      EXPECT_EQ(heap->release(buffer), HeapCode::kStaleHandle);
    drop(joined);
    gpu->release();
    EXPECT_EQ(heap->poll(), HeapCode::kOk);
    EXPECT_EQ(stats().pendingBytes, 0U);
    ASSERT_EQ(validate(*heap), nullptr) << validate(*heap);
    gpu->hold();
  }
  heap->statistics(&all);
  EXPECT_EQ(ordered->reuses(), std::size(orders));
  gpu->release();
}

// Two neighbouring ranges are still listed as pending although their point has passed, and the
// range that follows them is in a size class. An ordered allocation takes a pending range, and the
// heap stays consistent.
TEST_F(TimelineTest, PendingRangesBesideARangeInASizeClass) {
  const uint32_t line = heap->addTimeline();
  const TimelinePoint soon{line, 100};
  const TimelinePoint late{line, 200};
  std::vector<BufferHandle> all;
  for (int i = 0; i < 1100000; ++i)
    all.push_back(take(256));
  constexpr size_t kAt = 5000; // the first of three neighbours
  const BufferHandle neighbour = all[kAt + 2];
  const Placement there = placed(neighbour);
  ASSERT_EQ(placed(all[kAt]).offsetBytes + 512, there.offsetBytes);
  BufferRequest named;
  named.sizeBytes = 256;
  named.name = heap->intern("named");
  std::vector<BufferHandle> past;
  for (int i = 0; i < 2000; ++i)
    past.push_back(take(named));
  for (const BufferHandle buffer : past)
    drop(buffer, {&soon, 1});
  for (size_t i = 0; i < 16; ++i)
    drop(all[20000 + 10 * i], {&late, 1});
  drop(all[kAt], {&soon, 1});
  drop(all[kAt + 1], {&soon, 1});
  // advance() does not free the ranges at kAt and kAt + 1: its search for ranges whose point has
  // passed ends after 16 older ranges that still wait.
  EXPECT_EQ(heap->advance(line, 100), HeapCode::kOk);
  for (int i = 0; i < 64; ++i)
    take(named);
  drop(neighbour);
  heap->trim();
  BufferHandle again = take(named);
  for (int i = 0; i < 5000 && placed(again).offsetBytes != there.offsetBytes; ++i)
    again = take(named);
  ASSERT_EQ(placed(again).offsetBytes, there.offsetBytes);
  drop(all.back());
  drop(again); // the neighbour's range is in a size class now
  BufferRequest ordered;
  ordered.sizeBytes = 256;
  ordered.movable = true;
  takeAfter(ordered, {&soon, 1});
  EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
}

TEST_F(TimelineTest, TheWorkOfEveryReferenceKeepsTheStorage) {
  gpu->hold();
  const BufferHandle a = take(100000);
  ASSERT_EQ(heap->retain(a), HeapCode::kOk);
  const TimelinePoint point{0, submit()};
  drop(a, {&point, 1});
  drop(a);
  EXPECT_GE(stats().pendingBytes, 100000U);
  gpu->release();
  EXPECT_EQ(heap->poll(), HeapCode::kOk);
  EXPECT_EQ(stats().pendingBytes, 0U);
}

TEST_F(TimelineTest, AFrameLoopWithOrderedReuseNeitherWaitsNorGrows) {
  gpu->hold();
  uint64_t reserved = 0;
  for (uint64_t frame = 1; frame <= 40; ++frame) {
    std::vector<BufferHandle> live;
    const TimelinePoint before{0, frame - 1};
    for (uint64_t i = 1; i <= 10; ++i)
      live.push_back(takeAfter(i * 70000, {&before, 1}));
    const TimelinePoint point{0, submit()};
    for (const BufferHandle buffer : live)
      drop(buffer, {&point, 1});
    if (frame == 8)
      reserved = stats().reservedBytes;
    if (frame > 3)
      gpu->release(1); // three frames are in flight
  }
  EXPECT_EQ(stats().reservedBytes, reserved);
  EXPECT_EQ(all.hostWaits, 0U);
  gpu->release();
}

TEST_F(TimelineTest, ABufferIsNotSpilledWhileTheCallersWorkMayUseIt) {
  allowSpill = true;
  make({}, smallDevice(64 * kMiB));
  const uint32_t timeline = heap->addTimeline();
  BufferRequest request;
  request.sizeBytes = 40 * kMiB;
  request.spillable = true;
  const BufferHandle a = take(request);
  ASSERT_EQ(heap->freeAfter(a, {timeline, 7}), HeapCode::kOk);
  EXPECT_EQ(spilling->spill(a), HeapCode::kBusy);
  BufferHandle b;
  EXPECT_EQ(heap->allocate(request, &b), HeapCode::kExhausted)
      << "a cannot be spilled to make room";
  ASSERT_EQ(heap->advance(timeline, 7), HeapCode::kOk);
  EXPECT_EQ(spilling->spill(a), HeapCode::kOk);
  EXPECT_EQ(heap->allocate(request, &b), HeapCode::kOk);
  drop(a);
  drop(b);
}

} // namespace
} // namespace gantry::heap

// Tests of the size classes (engine/heap/size_classes.h): released ranges of up to 64 KiB that an
// arena keeps for reuse.
#include "tests/engine/heap/heap_fixture.h"

namespace gantry::heap {
namespace {

class SizeClassesTest : public HeapTest {};

TEST_F(SizeClassesTest, ARangeMayBeUpToAQuarterLongerThanTheRequest) {
  const auto granules = [&](uint64_t count) {
    BufferRequest request;
    request.sizeBytes = count * 256;
    return take(request);
  };
  const BufferHandle first = granules(40);
  const uint64_t offset = placed(first).offsetBytes;
  drop(first);
  const BufferHandle smaller = granules(32); // 40 is a quarter more than 32
  EXPECT_EQ(placed(smaller).offsetBytes, offset);
  EXPECT_EQ(placed(smaller).sizeBytes, 32U * 256);
  EXPECT_EQ(stats().liveBytes, 32U * 256);
  EXPECT_EQ(stats().usedBytes, 40U * 256) << "the range keeps its length";
  EXPECT_EQ(validate(*heap), nullptr);
  drop(smaller);
  EXPECT_EQ(validate(*heap), nullptr);
  const BufferHandle again = granules(40);
  EXPECT_EQ(placed(again).offsetBytes, offset);
  drop(again);
  const BufferHandle other = granules(31);
  EXPECT_NE(placed(other).offsetBytes, offset) << "too much would be wasted";
  EXPECT_EQ(validate(*heap), nullptr);
  drop(other);
  const BufferHandle longest = granules(256);
  const uint64_t there = placed(longest).offsetBytes;
  drop(longest);
  const BufferHandle shorter =
      granules(205); // 256 exceeds 205 by 51, which is 205 / 4 rounded down
  EXPECT_EQ(placed(shorter).offsetBytes, there);
  drop(shorter);
}

// A range that comes from a size class keeps its record (buffer_record.h), but the record has a new
// generation: the handles of its former buffers are stale.
TEST_F(SizeClassesTest, AReusedRangeGetsANewHandle) {
  std::vector<BufferHandle> old;
  for (int i = 0; i < 10; ++i)
    old.push_back(take(1000));
  for (const BufferHandle buffer : old)
    drop(buffer);
  for (size_t i = old.size(); i-- > 0;) { // last in, first out
    const BufferHandle buffer = take(1000);
    EXPECT_NE(buffer, old[i]);
    EXPECT_EQ(placed(buffer).sizeBytes, 1000U);
    EXPECT_EQ(heap->release(old[i]), HeapCode::kStaleHandle);
    EXPECT_EQ(heap->retain(old[i]), HeapCode::kStaleHandle);
  }
  EXPECT_EQ(stats().liveBuffers, 10U);
  EXPECT_EQ(validate(*heap), nullptr);
}

TEST_F(SizeClassesTest, WithALimitOfZeroNoRangeIsKept) {
  HeapOptions options;
  options.sizeClassBytes = 0;
  make(options);
  const BufferHandle stays = take(1000);
  for (int i = 0; i < 3; ++i)
    drop(take(1000));
  EXPECT_EQ(stats().usedBytes, 1024U);
  drop(stays);
}

TEST_F(SizeClassesTest, HugeLimitsWork) {
  for (const uint64_t bytes : {uint64_t{1} << 47, UINT64_MAX}) {
    HeapOptions options;
    options.sizeClassBytes = bytes;
    make(options);
    drop(take(1000));
    EXPECT_EQ(stats().usedBytes, 1024U) << "the range is in a size class";
  }
}

TEST_F(SizeClassesTest, RangesBeyondTheLimitGoBackToTheirPool) {
  constexpr MemoryKind kKinds[] = {MemoryKind::kDevice, MemoryKind::kUpload};
  for (const int inARow : {1, 3, 1000}) { // Consecutive allocations of one kind.
    std::vector<BufferHandle> live;
    for (int i = 0; i < 30000; ++i) {
      BufferRequest request;
      request.sizeBytes = 512;
      request.kind = kKinds[i / inARow % 2];
      request.alignment = i % 7 == 0 ? 512 : 256; // Some buffers have a larger alignment.
      live.push_back(take(request));
    }
    for (const BufferHandle one : live)
      drop(one);
    EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
    for (const MemoryKind kind : kKinds) {
      EXPECT_EQ(stats(kind).liveBytes, 0U);
      // 15,000 ranges of each kind were released.
      EXPECT_LE(stats(kind).usedBytes, 5000U * 512) << "the size classes keep too many bytes";
    }
    heap->trim();
    for (const MemoryKind kind : kKinds)
      EXPECT_EQ(stats(kind).usedBytes, 0U);
  }
}

TEST_F(SizeClassesTest, AnUnknownNameIsRefusedEvenIfAClassHasARange) {
  BufferRequest request;
  request.sizeBytes = 1000;
  for (const uint32_t index : {5000U, heap->intern("the last one").index + 1}) {
    request.name = {index};
    for (int i = 0; i < 2; ++i) {
      BufferHandle none;
      EXPECT_EQ(heap->allocate(request, &none), HeapCode::kInvalidArgument);
      drop(take(1000));
    }
  }
}

} // namespace
} // namespace gantry::heap

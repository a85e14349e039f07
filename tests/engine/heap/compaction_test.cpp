// Tests of compaction, which moves buffers to empty sparsely used slabs (extras/compaction.h):
// which buffers move, which stay, and that contents are copied.
#include "tests/engine/heap/heap_fixture.h"

#include <cstring>
#include <map>
#include <random>

namespace gantry::heap {
namespace {

class CompactionTest : public HeapTest {
protected:
  BufferHandle movable(uint64_t sizeBytes, uint8_t fill) {
    BufferRequest request;
    request.sizeBytes = sizeBytes;
    request.movable = true;
    const BufferHandle buffer = take(request);
    std::memset(bytes(buffer), fill, sizeBytes);
    return buffer;
  }
  // Allocates `count` buffers of up to `largest` bytes and releases nine of ten at random. The
  // other buffers are added to `live`, and their contents to `contents`.
  void fragment(uint32_t seed, int count, uint64_t largest) {
    std::mt19937_64 random(seed);
    std::vector<BufferHandle> made;
    for (int i = 0; i < count; ++i) {
      const auto fill = static_cast<uint8_t>(random());
      made.push_back(movable(random() % largest + 1, fill));
      contents[made.back().bits] = fill;
    }
    for (const BufferHandle buffer : made) {
      if (random() % 10 != 0) {
        contents.erase(buffer.bits);
        drop(buffer);
      } else {
        live.push_back(buffer);
      }
    }
  }
  // Compacts at most `slice` bytes at a time until there is nothing more to do.
  void compactFully(uint64_t slice) {
    CompactResult moved;
    int calls = 0;
    do {
      ASSERT_EQ(compaction->compact(slice, &moved), HeapCode::kOk);
      ASSERT_LE(moved.movedBytes, slice);
      ASSERT_EQ(validate(*heap), nullptr) << validate(*heap);
      ASSERT_LT(++calls, 10000);
    } while (moved.more);
  }
  void checkContents() {
    for (const BufferHandle buffer : live) {
      const Placement at = placed(buffer);
      const uint8_t *data = bytes(buffer);
      for (const uint64_t i : {uint64_t{0}, at.sizeBytes / 2, at.sizeBytes - 1})
        ASSERT_EQ(data[i], contents[buffer.bits]);
    }
  }
  std::map<uint64_t, uint8_t> contents; // The byte that fills a buffer, by its handle.
  std::vector<BufferHandle> live;
};

TEST_F(CompactionTest, ReturnsFreeMemoryAndKeepsTheContents) {
  for (const uint64_t slice : {64 * kMiB, 300 * kKiB}) {
    fragment(1, 2000, 200 * kKiB);
    const uint64_t before = stats().reservedBytes;
    compactFully(slice);
    checkContents();
    EXPECT_LT(static_cast<double>(stats().reservedBytes),
              1.08 * static_cast<double>(stats().liveBytes));
    EXPECT_LT(stats().reservedBytes, before / 4);
    EXPECT_EQ(gpu->counts().liveBytes, stats().reservedBytes);
    for (const BufferHandle buffer : live)
      drop(buffer);
    live.clear();
    contents.clear();
  }
}

// compact(maxBytes) empties a slab that holds more than maxBytes in several calls.
TEST_F(CompactionTest, SmallSlicesReserveAsLittleAsLargeOnes) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    make();
    fragment(seed, 2000, 200 * kKiB);
    compactFully(256 * kKiB);
    checkContents();
    EXPECT_LT(static_cast<double>(stats().reservedBytes),
              1.08 * static_cast<double>(stats().liveBytes))
        << "seed " << seed;
    live.clear();
    contents.clear();
  }
}

// The victim is the slab that compaction empties. A victim that holds only pending ranges, because
// the copies of its buffers are in flight, does not make compaction allocate a new slab.
TEST_F(CompactionTest, SmallSlicesAllocateFewSlabs) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    make();
    fragment(seed, 2000, 200 * kKiB);
    const uint64_t before = gpu->counts().allocations;
    CompactResult moved;
    int calls = 0;
    do {
      if (calls % 3 == 0) {
        gpu->release();
        gpu->hold();
      }
      ASSERT_EQ(compaction->compact(256 * kKiB, &moved), HeapCode::kOk);
      ASSERT_LT(++calls, 10000);
    } while (moved.more);
    gpu->release();
    EXPECT_LT(gpu->counts().allocations - before, 30U) << "seed " << seed;
    live.clear();
    contents.clear();
  }
}

TEST_F(CompactionTest, OldRangesArePendingWhileCopiesAreInFlight) {
  fragment(2, 500, 200 * kKiB);
  const uint64_t before = stats().reservedBytes;
  gpu->hold();
  CompactResult moved;
  ASSERT_EQ(compaction->compact(4 * kMiB, &moved), HeapCode::kOk);
  EXPECT_GT(moved.movedBytes, 0U);
  EXPECT_GE(stats().reservedBytes + moved.freedBytes, before) << "copies still read the old ranges";
  EXPECT_GT(stats().pendingBytes, 0U);
  gpu->release();
  compactFully(64 * kMiB);
  checkContents();
  for (const BufferHandle buffer : live)
    drop(buffer);
}

TEST_F(CompactionTest, PinnedAndUnmovableBuffersStay) {
  fragment(3, 300, 100 * kKiB);
  std::vector<Placement> places;
  std::vector<BufferHandle> pinned;
  for (size_t i = 0; i < live.size(); i += 3) {
    Placement at;
    ASSERT_EQ(heap->pin(live[i], &at), HeapCode::kOk);
    pinned.push_back(live[i]);
    places.push_back(at);
  }
  const BufferHandle fixed = take(5000);
  const Placement fixedAt = placed(fixed);
  compactFully(64 * kMiB);
  checkContents();
  for (size_t i = 0; i < pinned.size(); ++i) {
    EXPECT_EQ(placed(pinned[i]).offsetBytes, places[i].offsetBytes);
    EXPECT_EQ(placed(pinned[i]).memory, places[i].memory);
    EXPECT_EQ(heap->unpin(pinned[i]), HeapCode::kOk);
  }
  EXPECT_EQ(heap->unpin(pinned[0]), HeapCode::kInvalidArgument) << "it is not pinned any more";
  EXPECT_EQ(placed(fixed).offsetBytes, fixedAt.offsetBytes);
  EXPECT_EQ(placed(fixed).memory, fixedAt.memory);
  drop(fixed);
  for (const BufferHandle buffer : live)
    drop(buffer);
}

TEST_F(CompactionTest, KeepsAlignment) {
  std::vector<BufferHandle> made;
  for (int i = 0; i < 400; ++i) {
    BufferRequest request;
    request.sizeBytes = 30000;
    request.alignment = 65536;
    request.movable = true;
    made.push_back(take(request));
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (i % 8 != 0)
      drop(made[i]);
    else
      live.push_back(made[i]);
  }
  compactFully(64 * kMiB);
  for (const BufferHandle buffer : live) {
    EXPECT_EQ(placed(buffer).offsetBytes % 65536, 0U);
    drop(buffer);
  }
}

TEST_F(CompactionTest, MemoryPressureStartsACompaction) {
  make({}, smallDevice(32 * kMiB));
  std::vector<BufferHandle> made;
  BufferRequest request;
  request.sizeBytes = 400 * kKiB;
  request.movable = true;
  BufferHandle buffer;
  while (heap->allocate(request, &buffer) == HeapCode::kOk)
    made.push_back(buffer);
  ASSERT_GT(made.size(), 70U);
  for (size_t i = 0; i < made.size(); ++i) {
    if (i % 4 != 0) {
      drop(made[i]);
    } else {
      std::memset(bytes(made[i]), static_cast<int>(i), request.sizeBytes);
      contents[made[i].bits] = static_cast<uint8_t>(i);
      live.push_back(made[i]);
    }
  }
  const BufferHandle big = take(16 * kMiB);
  checkContents();
  EXPECT_GT(compaction->movedBytes(), 0U);
  drop(big);
  for (const BufferHandle one : live)
    drop(one);
}

TEST_F(CompactionTest, AFailedSubmissionChangesNothing) {
  fragment(4, 300, 100 * kKiB);
  std::map<uint64_t, uint64_t> offsets;
  for (const BufferHandle buffer : live)
    offsets[buffer.bits] = placed(buffer).offsetBytes;
  for (uint64_t k = 1; k <= 4; ++k) {
    gpu->failCall(k);
    const HeapCode code = compaction->compact(64 * kMiB);
    gpu->failCall(0);
    EXPECT_EQ(validate(*heap), nullptr) << k << ": " << validate(*heap);
    if (code == HeapCode::kOk)
      break; // the compaction made fewer than k driver calls
    checkContents();
  }
  compactFully(64 * kMiB);
  checkContents();
  for (const BufferHandle buffer : live)
    drop(buffer);
}

} // namespace
} // namespace gantry::heap

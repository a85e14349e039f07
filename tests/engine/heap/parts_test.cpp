// The heap's small parts alone: the set of unused records, and what decides how much is kept.
#include "engine/heap/impl.h"
#include "engine/heap/index_set.h"
#include "engine/heap/retention.h"
#include "tests/engine/heap/heap_fixture.h"

#include <random>
#include <set>

namespace gantry::heap {
namespace {

TEST(IndexSet, AgreesWithASortedSet) {
  IndexSet set(HostAllocator{});
  std::set<uint32_t> model;
  std::mt19937 random(1);
  constexpr uint32_t kLimit = 700000; // words of every level
  ASSERT_TRUE(set.reserve(kLimit));
  EXPECT_EQ(set.take(0), IndexSet::kNone);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t index = i % 3 == 0 ? random() % kLimit : random() % 300;
    if (random() % 2 == 0) {
      if (model.insert(index).second)
        set.add(index);
    } else {
      const auto found = model.lower_bound(index);
      const uint32_t expected =
          model.empty() ? IndexSet::kNone : (found == model.end() ? *model.begin() : *found);
      ASSERT_EQ(set.take(index), expected);
      model.erase(expected);
    }
    ASSERT_EQ(set.has(index), model.count(index) != 0);
    ASSERT_EQ(set.size(), model.size());
  }
}

TEST(Retention, GoesFromTightToQuickWithRetakes) {
  Retention retention;
  const uint64_t live = 1000 * kMiB;
  const uint64_t tight = retention.targetBytes(live, 1200 * kMiB, 1.05);
  EXPECT_EQ(tight, static_cast<uint64_t>(1.05 * static_cast<double>(live)));
  const uint64_t slab = retention.slabBytes(false, live, live);
  const uint64_t spare = retention.spareBytes(64 * kMiB);
  for (uint32_t i = 0; i < 1000; ++i)
    retention.noteTaken(1201 * kMiB, 1200 * kMiB); // growth is no retake
  EXPECT_EQ(retention.targetBytes(live, 1200 * kMiB, 1.05), tight);
  for (uint32_t i = 0; i < 30; ++i)
    retention.noteTaken(1200 * kMiB, 1200 * kMiB);
  EXPECT_LT(retention.targetBytes(live, 1200 * kMiB, 1.05), tight + tight / 100)
      << "a few are noise";
  for (uint32_t i = 0; i < 2 * Retention::kManyRetakes; ++i)
    retention.noteTaken(1200 * kMiB, 1200 * kMiB);
  EXPECT_GT(retention.targetBytes(live, 1200 * kMiB, 1.05), 1300 * kMiB);
  EXPECT_EQ(retention.targetBytes(live, 5000 * kMiB, 1.05), 5000 * kMiB);
  EXPECT_GT(retention.slabBytes(false, live, live), slab);
  EXPECT_EQ(retention.slabBytes(false, live, live) % Retention::kSlabGranule, 0U);
  EXPECT_GT(retention.spareBytes(64 * kMiB), spare);
  EXPECT_LE(retention.spareBytes(64 * kMiB), 64 * kMiB);
  retention.forget();
  EXPECT_EQ(retention.targetBytes(live, 1200 * kMiB, 1.05), tight);
}

TEST(Retention, IsQuickWhereTheHeapWasFullBefore) {
  Retention retention;
  const auto target = [&](uint64_t peakLive, uint64_t peakReserved) {
    retention.beginGrowth(peakLive, peakReserved);
    return retention.targetBytes(peakLive, peakReserved, 1.05);
  };
  const uint64_t live = 1000 * kMiB;
  const uint64_t tight = target(live, 1600 * kMiB);
  const uint64_t slab = retention.slabBytes(true, live, live);
  EXPECT_EQ(Retention::ebbBytes(1000 * kMiB), 125 * kMiB);
  EXPECT_EQ(target(live, 1600 * kMiB), tight) << "no ebb";
  retention.noteEbb(1000 * kMiB);
  EXPECT_EQ(target(live, 1600 * kMiB), 3200 * kMiB);
  EXPECT_EQ(target(live, 1900 * kMiB), 3200 * kMiB) << "of what was reserved at first";
  EXPECT_GT(retention.slabBytes(true, live, live), slab);
  EXPECT_LT(target(live + kMiB, 1600 * kMiB), tight + 2 * kMiB) << "more than before";
  EXPECT_EQ(retention.slabBytes(true, live, live), slab);
  EXPECT_EQ(target(live, 1600 * kMiB), 3200 * kMiB);
  retention.forget();
  EXPECT_EQ(target(live, 1600 * kMiB), tight);
}

// Steps of the same buffers in different order, with few in common, which end with little alive.
// Of a block's own slot, small and large, and of one that belongs to none, as what may move has.
TEST_F(HeapTest, ASlotWithoutGenerationsIsNotUsedAgain) {
  drop(take(4096));
  BufferRequest request;
  for (const uint64_t size : {uint64_t{4096}, 100 * kKiB, 101 * kKiB}) {
    request.sizeBytes = size;
    request.movable = size > 100 * kKiB;
    heap->trim();
    const BufferHandle first = take(request); // the next one has its block's slot, if it may
    BufferHandle last = take(request);
    const uint32_t slot = slotOf(last);
    HeapImpl &insides = HeapImpl::of(*heap);
    const uint64_t state = insides.slots[slot].state.load();
    insides.slots[slot].state.store((state & ~kGenerationBits) | uint64_t{kRetired - 1} << 32);
    last.bits = (last.bits & ~kGenerationBits) | uint64_t{kRetired - 1} << 32;
    drop(last);
    std::vector<BufferHandle> live;
    for (int i = 0; i < 2000; ++i) {
      live.push_back(take(request));
      EXPECT_NE(slotOf(live.back()), slot);
    }
    EXPECT_EQ(heap->release(last), HeapCode::kStaleHandle);
    EXPECT_EQ(heap->validate(), nullptr) << heap->validate();
    for (const BufferHandle buffer : live)
      drop(buffer);
    drop(first);
    EXPECT_EQ(heap->validate(), nullptr) << heap->validate();
    heap->trim();
    EXPECT_EQ(stats().usedBytes, 0U) << "the range of a retired slot is lost";
  }
}

TEST_F(HeapTest, AHeapThatIsFilledAgainTakesNothingNew) {
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

// What was full of one size serves another: the slabs go over from pool to pool.
TEST_F(HeapTest, AHeapThatIsFilledAgainOtherwiseTakesNothingNew) {
  const auto fill = [&](uint64_t sizeBytes) {
    const uint64_t before = gpu->counts().allocations;
    std::vector<BufferHandle> live;
    for (uint64_t i = 0; i < 60 * kMiB / sizeBytes; ++i)
      live.push_back(take(sizeBytes));
    EXPECT_EQ(heap->validate(), nullptr) << heap->validate();
    for (const BufferHandle buffer : live)
      drop(buffer);
    return gpu->counts().allocations - before;
  };
  EXPECT_GT(fill(kMiB), 10U);
  EXPECT_EQ(fill(16 * kKiB), 0U);
  EXPECT_EQ(fill(kMiB), 0U);
}

// Sizes without a pattern, over a wide range, at a bounded sum: the heap learns to keep memory.
TEST_F(HeapTest, LearnsToKeepWhatIsTakenAgain) {
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
  EXPECT_LT(phase(), 1 + first / 10) << "of " << first << " at first";
  EXPECT_GT(heap->trim(), 0U);
  EXPECT_EQ(gpu->counts().liveBytes, 0U);
}

} // namespace
} // namespace gantry::heap

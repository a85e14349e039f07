// Tests of the suballocator Tlsf, by examples and by random operations against a model that records
// every range. A granule (2^granuleLog2 bytes) is the unit of offsets and sizes.
#include "engine/base/tlsf.h"
#include "tests/engine/heap/failing_host.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace gantry {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(Tlsf, RoundsSizesAndMergesFreeNeighbours) {
  Tlsf tlsf({.granuleLog2 = 8, .host = {}});
  constexpr uint32_t kRegion = 7;
  ASSERT_TRUE(tlsf.addRegion(kRegion, kMiB + 100));
  EXPECT_EQ(tlsf.regionBytes(), kMiB); // The region is rounded down to whole granules.
  const uint32_t a = tlsf.allocate(1, 1);
  const uint32_t b = tlsf.allocate(257, 1);
  ASSERT_NE(b, Tlsf::kNone);
  EXPECT_EQ(tlsf.sizeOf(a), 256U);
  EXPECT_EQ(tlsf.sizeOf(b), 512U);
  EXPECT_EQ(tlsf.usedBytes(), 768U);
  EXPECT_EQ(tlsf.validate(), nullptr);
  EXPECT_FALSE(tlsf.removeRegion(kRegion));
  EXPECT_TRUE(tlsf.free(a));
  EXPECT_FALSE(tlsf.free(a)) << "twice";
  EXPECT_TRUE(tlsf.free(b));
  EXPECT_EQ(tlsf.largestFreeBytes(), kMiB);
  EXPECT_EQ(tlsf.statistics().freeBlocks, 1U);
  EXPECT_TRUE(tlsf.removeRegion(kRegion));
  EXPECT_EQ(tlsf.allocate(1, 1), Tlsf::kNone);
  EXPECT_EQ(tlsf.validate(), nullptr);
}

TEST(Tlsf, RefusesInvalidArguments) {
  Tlsf tlsf({});
  ASSERT_TRUE(tlsf.addRegion(0, kMiB));
  EXPECT_FALSE(tlsf.addRegion(0, kMiB)) << "the region exists";
  EXPECT_FALSE(tlsf.addRegion(1, 255));
  EXPECT_FALSE(tlsf.addRegion(1 << 24, kMiB)) << "the number of a region is less than 2^24 - 1";
  EXPECT_FALSE(tlsf.addRegion(1, UINT64_MAX)) << "the sum of regions would overflow";
  for (const uint64_t size : {uint64_t{0}, kMiB + 1, uint64_t{1} << 63, UINT64_MAX})
    EXPECT_EQ(tlsf.allocate(size, 1), Tlsf::kNone) << size;
  for (const uint64_t alignment : {uint64_t{0}, uint64_t{3}, UINT64_MAX})
    EXPECT_EQ(tlsf.allocate(256, alignment), Tlsf::kNone) << alignment;
  EXPECT_NE(tlsf.allocate(256, uint64_t{1} << 63), Tlsf::kNone)
      << "offset 0 is aligned to anything";
  EXPECT_EQ(tlsf.allocate(256, uint64_t{1} << 63), Tlsf::kNone);
  EXPECT_FALSE(tlsf.free(Tlsf::kNone));
  EXPECT_FALSE(tlsf.free(1000));
  EXPECT_FALSE(tlsf.hostExhausted());
  EXPECT_EQ(tlsf.validate(), nullptr);
}

TEST(Tlsf, AllocatesAWholeEmptyRegion) {
  Tlsf tlsf({});
  ASSERT_TRUE(tlsf.addRegion(0, kMiB));
  ASSERT_TRUE(tlsf.addRegion(1, 2 * kMiB));
  EXPECT_EQ(tlsf.allocateRegion(2, 7), Tlsf::kNone) << "no such region";
  const uint32_t block = tlsf.allocateRegion(1, 7);
  ASSERT_NE(block, Tlsf::kNone);
  EXPECT_EQ(tlsf.at(block).region, 1U);
  EXPECT_EQ(tlsf.at(block).user, 7U);
  EXPECT_EQ(tlsf.sizeOf(block), 2 * kMiB);
  EXPECT_EQ(tlsf.allocateRegion(1, 7), Tlsf::kNone) << "the region is not empty";
  EXPECT_EQ(tlsf.emptyBytes(), kMiB);
  EXPECT_EQ(tlsf.validate(), nullptr);
  EXPECT_TRUE(tlsf.free(block));
  EXPECT_EQ(tlsf.emptyBytes(), 3 * kMiB);
  EXPECT_EQ(tlsf.validate(), nullptr);
}

TEST(Tlsf, SplitsTakenBlocks) {
  Tlsf tlsf({});
  ASSERT_TRUE(tlsf.addRegion(0, kMiB));
  const uint32_t whole = tlsf.allocate(kMiB, 1, 7);
  EXPECT_EQ(tlsf.split(whole, kMiB), Tlsf::kNone);
  EXPECT_EQ(tlsf.split(whole, 0), Tlsf::kNone);
  const uint32_t rest = tlsf.split(whole, 1000);
  ASSERT_NE(rest, Tlsf::kNone);
  EXPECT_EQ(tlsf.sizeOf(whole), 1024U);
  EXPECT_EQ(tlsf.at(rest).offset, 1024U);
  EXPECT_EQ(tlsf.at(rest).user, 7U);
  EXPECT_EQ(tlsf.usedBytes(), kMiB);
  EXPECT_EQ(tlsf.validate(), nullptr);
  EXPECT_TRUE(tlsf.free(whole));
  EXPECT_TRUE(tlsf.free(rest));
  EXPECT_EQ(tlsf.largestFreeBytes(), kMiB);
}

TEST(Tlsf, KnowsItsEmptyRegions) {
  Tlsf tlsf({});
  EXPECT_EQ(tlsf.nextEmpty(0), Tlsf::kNone);
  for (const uint32_t region : {3U, 63U, 64U, 200U})
    ASSERT_TRUE(tlsf.addRegion(region, 1024 + region * 256));
  const auto empty = [&] {
    std::vector<uint32_t> found;
    for (uint32_t i = tlsf.nextEmpty(0); i != Tlsf::kNone; i = tlsf.nextEmpty(i + 1))
      found.push_back(i);
    return found;
  };
  EXPECT_EQ(empty(), (std::vector<uint32_t>{3, 63, 64, 200}));
  const uint32_t block = tlsf.allocate(1024 + 63 * 256, 1);
  EXPECT_EQ(empty(), (std::vector<uint32_t>{3, 64, 200}));
  EXPECT_EQ(tlsf.nextEmpty(64), 64U);
  EXPECT_EQ(tlsf.nextEmpty(65), 200U);
  EXPECT_EQ(tlsf.nextEmpty(201), Tlsf::kNone);
  EXPECT_EQ(tlsf.nextEmpty(5000), Tlsf::kNone);
  EXPECT_FALSE(tlsf.removeRegion(63));
  EXPECT_TRUE(tlsf.removeRegion(64));
  EXPECT_EQ(empty(), (std::vector<uint32_t>{3, 200}));
  EXPECT_EQ(tlsf.validate(), nullptr);
  EXPECT_TRUE(tlsf.free(block));
  EXPECT_EQ(empty(), (std::vector<uint32_t>{3, 63, 200}));
  EXPECT_EQ(tlsf.validate(), nullptr);
}

TEST(Tlsf, AvoidsARegion) {
  Tlsf tlsf({});
  constexpr uint32_t kFirst = 3;
  constexpr uint32_t kSecond = 1;
  ASSERT_TRUE(tlsf.addRegion(kFirst, kMiB) && tlsf.addRegion(kSecond, kMiB));
  for (uint32_t avoid : {kFirst, kSecond}) {
    const uint32_t block = tlsf.allocate(4096, 256, 0, avoid);
    ASSERT_NE(block, Tlsf::kNone);
    EXPECT_NE(tlsf.regionOf(block), avoid);
  }
  EXPECT_EQ(tlsf.validate(), nullptr);
}

// The taken ranges of each region, by offset. add() checks that a new range overlaps no other one.
class Model {
public:
  void add(const Tlsf::Range &range) {
    auto &ranges = regions_[range.region];
    const auto next = ranges.lower_bound(range.offset);
    if (next != ranges.end()) {
      EXPECT_LE(range.offset + range.size, next->first);
    }
    if (next != ranges.begin()) {
      EXPECT_LE(std::prev(next)->first + std::prev(next)->second, range.offset);
    }
    ranges[range.offset] = range.size;
    bytes_ += range.size;
  }
  void remove(const Tlsf::Range &range) {
    EXPECT_EQ(regions_[range.region].erase(range.offset), 1U);
    bytes_ -= range.size;
  }
  uint64_t bytes() const { return bytes_; }

private:
  std::map<uint32_t, std::map<uint64_t, uint64_t>> regions_;
  uint64_t bytes_ = 0;
};

// Makes `steps` random operations and compares the suballocator with the model after each.
void runRandom(uint32_t seed, uint32_t granuleLog2, int steps) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", granule 2^" << granuleLog2);
  std::mt19937_64 random(seed);
  Tlsf tlsf({.granuleLog2 = granuleLog2, .host = {}});
  std::vector<uint64_t> regionSizes;
  for (uint32_t i = 0; i < 3; ++i)
    ASSERT_TRUE(tlsf.addRegion(i, (random() % 64 + 1) << 16));
  Model model;
  struct Taken {
    uint32_t block;
    uint64_t alignment;
  };
  std::vector<Taken> live;
  for (int step = 0; step < steps; ++step) {
    const auto action = random() % 100;
    if (action < 52 || live.empty()) {
      const uint64_t size = (random() % 255 + 1) << (random() % 12);
      const uint64_t alignment = uint64_t{1} << (random() % 14);
      const auto user = static_cast<uint32_t>(random());
      const uint32_t block = tlsf.allocate(size, alignment, user);
      if (block == Tlsf::kNone)
        continue;
      const Tlsf::Range range = tlsf.at(block);
      ASSERT_TRUE(range.used);
      ASSERT_GE(range.size, size);
      ASSERT_LT(range.size, size + (uint64_t{1} << granuleLog2));
      ASSERT_EQ(range.offset % alignment, 0U);
      ASSERT_LE(range.offset + range.size, tlsf.sizeOfRegion(range.region));
      ASSERT_EQ(range.user, user);
      model.add(range);
      live.push_back({block, alignment});
    } else if (action < 97) {
      const size_t i = random() % live.size();
      model.remove(tlsf.at(live[i].block));
      ASSERT_TRUE(tlsf.free(live[i].block));
      live[i] = live.back();
      live.pop_back();
    } else if (action < 99) {
      const size_t i = random() % live.size();
      const Tlsf::Range before = tlsf.at(live[i].block);
      const uint32_t rest = tlsf.split(live[i].block, before.size / 2 + 1);
      if (rest != Tlsf::kNone) {
        model.remove(before);
        model.add(tlsf.at(live[i].block));
        model.add(tlsf.at(rest));
        live.push_back({rest, 1});
      }
    } else {
      const auto region = static_cast<uint32_t>(random() % 4);
      tlsf.removeRegion(region);
      if (tlsf.statistics().regions < 3)
        tlsf.addRegion(region, (random() % 64 + 1) << 16);
    }
    ASSERT_EQ(tlsf.usedBytes(), model.bytes());
    if (step % 64 == 0) {
      ASSERT_STREQ(tlsf.validate(), nullptr) << "step " << step;
    }
  }
  for (const Taken &taken : live)
    ASSERT_TRUE(tlsf.free(taken.block));
  ASSERT_STREQ(tlsf.validate(), nullptr);
  EXPECT_EQ(tlsf.usedBytes(), 0U);
  EXPECT_EQ(tlsf.statistics().freeBlocks, tlsf.statistics().regions);
}

TEST(Tlsf, AgreesWithTheModel) {
  for (uint32_t seed = 1; seed <= 8; ++seed)
    runRandom(seed, seed % 3 * 4, 30000); // Granules of 1, 16 and 256 bytes.
}

TEST(Tlsf, SurvivesEveryFailingHostAllocation) {
  uint64_t allocations = 1;
  for (uint64_t k = 0; k <= allocations; ++k) {
    FailingHost host(k == 0 ? UINT64_MAX : k);
    {
      Tlsf tlsf({.granuleLog2 = 8, .host = host.allocator()});
      std::vector<uint32_t> blocks;
      for (uint32_t r = 0; r < 40; ++r)
        tlsf.addRegion(r, kMiB / 8);
      for (int i = 0; i < 300; ++i) {
        const uint64_t used = tlsf.usedBytes();
        const uint32_t block = tlsf.allocate(8192, 16384);
        if (block != Tlsf::kNone)
          blocks.push_back(block);
        else
          ASSERT_EQ(tlsf.usedBytes(), used);
        ASSERT_STREQ(tlsf.validate(), nullptr);
      }
      for (const uint32_t block : blocks)
        ASSERT_TRUE(tlsf.free(block));
      ASSERT_STREQ(tlsf.validate(), nullptr);
      if (k == 0) {
        allocations = host.calls();
        ASSERT_GT(allocations, 4U);
      } else {
        ASSERT_EQ(host.failures(), 1U);
      }
    }
    ASSERT_EQ(host.liveBytes(), 0U);
  }
}

} // namespace
} // namespace gantry

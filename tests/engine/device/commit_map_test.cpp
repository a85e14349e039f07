// Tests CommitMap against a model that stores for each byte the token of the block (the driver
// allocation) that backs it.
#include "engine/device/commit_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace gantry::device {
namespace {

TEST(CommitMap, ReleasesABlockWhenItsLastPartIsRemoved) {
  CommitMap map;
  std::vector<uint64_t> released;
  auto release = [&](uint64_t token) { released.push_back(token); };
  ASSERT_TRUE(map.prepare());
  map.add(10, 30, 7);
  EXPECT_TRUE(map.covers(10, 30));
  EXPECT_FALSE(map.covers(9, 2));
  EXPECT_TRUE(map.overlaps(39, 5));
  EXPECT_FALSE(map.overlaps(40, 5));
  ASSERT_TRUE(map.prepare());
  map.remove(20, 10, release);
  EXPECT_TRUE(released.empty()) << "both ends are still bound";
  EXPECT_EQ(map.committedBytes(), 20u);
  ASSERT_TRUE(map.prepare());
  map.remove(10, 10, release);
  ASSERT_TRUE(map.prepare());
  map.remove(30, 10, release);
  EXPECT_EQ(released, std::vector<uint64_t>{7});
  EXPECT_EQ(map.committedBytes(), 0u);
}

TEST(CommitMap, AgreesWithAByteMap) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  constexpr uint64_t kSize = 64;
  for (int round = 0; round < 200; ++round) {
    CommitMap map;
    std::vector<uint64_t> model(kSize, 0); // The token of each byte; 0: no storage.
    std::map<uint64_t, uint64_t> live;     // The number of bytes that each token backs.
    uint64_t nextToken = 1;
    auto release = [&](uint64_t token) {
      ASSERT_EQ(live.count(token), 1u);
      EXPECT_EQ(live[token], 0u);
      live.erase(token);
    };
    for (int step = 0; step < 300; ++step) {
      const uint64_t offset = random() % kSize,
                     size = 1 + random() % std::min<uint64_t>(kSize - offset, 12);
      const auto first = model.begin() + static_cast<int64_t>(offset);
      const auto last = first + static_cast<int64_t>(size);
      const bool none = std::all_of(first, last, [](uint64_t t) { return t == 0; });
      const bool all = std::all_of(first, last, [](uint64_t t) { return t != 0; });
      ASSERT_EQ(map.overlaps(offset, size), !none);
      ASSERT_EQ(map.covers(offset, size), all);
      ASSERT_TRUE(map.prepare());
      if (none) {
        map.add(offset, size, nextToken);
        std::fill(first, last, nextToken);
        live[nextToken++] = size;
      } else if (all) {
        for (auto at = first; at != last; ++at)
          --live[*at];
        std::fill(first, last, 0);
        map.remove(offset, size, release);
        for (const auto &[token, bytes] : live)
          ASSERT_GT(bytes, 0u) << "a block without bound bytes was not released";
      }
      ASSERT_EQ(map.committedBytes(),
                kSize - static_cast<uint64_t>(std::count(model.begin(), model.end(), 0)));
    }
    size_t given = 0;
    map.clear([&](uint64_t token) { given += live.count(token); });
    EXPECT_EQ(given, live.size());
  }
}

} // namespace
} // namespace gantry::device

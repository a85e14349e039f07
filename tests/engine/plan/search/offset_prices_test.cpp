// Tests that in each run of offsets that OffsetPrices lists, the price equals the sum of the prices
// of the ranges that contain the offset (offset_prices.h explains runs and prices).
#include "engine/plan/search/offset_prices.h"

#include <gtest/gtest.h>
#include <random>

namespace gantry::plan {
namespace {

/// Adds random ranges and compares the runs with plain sums. `scale` multiplies all offsets,
/// because OffsetPrices stores a small range of offsets differently from a large one.
void compareWithSums(std::mt19937_64 &random, OffsetPrices &prices, int64_t scale) {
  const auto highest = static_cast<int64_t>(random() % 40);
  std::vector<int64_t> sums(static_cast<size_t>(highest) + 1, 0);
  prices.begin(highest * scale);
  for (uint64_t ranges = random() % 8; ranges > 0; --ranges) {
    const int64_t below = static_cast<int64_t>(random() % 60) - 10;
    const int64_t end = below + 1 + static_cast<int64_t>(random() % 20);
    const auto price = static_cast<int64_t>(random() % 9);
    prices.add(below * scale, end * scale, price);
    for (int64_t y = std::max<int64_t>(below + 1, 0); y < end && y <= highest; ++y)
      sums[static_cast<size_t>(y)] += price;
  }
  int64_t next = 0;
  prices.forEachRun([&](int64_t first, int64_t last, int64_t price) {
    ASSERT_EQ(first, next);
    ASSERT_LE(first, last);
    next = last + 1;
    for (int64_t y = (first + scale - 1) / scale; y * scale <= last; ++y)
      ASSERT_EQ(price, sums[static_cast<size_t>(y)]) << "at " << y;
  });
  ASSERT_EQ(next, highest * scale + 1);
}

TEST(OffsetPrices, RunsAreSumsOfRanges) {
  std::mt19937_64 random(1);
  OffsetPrices prices;
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    compareWithSums(random, prices, 1);
    compareWithSums(random, prices, 1'000'000);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

} // namespace
} // namespace gantry::plan

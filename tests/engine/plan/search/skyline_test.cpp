// Tests that the placements of the heuristic Skyline (skyline.h) are valid, and that it stops at a
// height limit and at a work limit.
#include "engine/plan/search/skyline.h"
#include "engine/plan/random.h"
#include "tests/support/plan_instances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace gantry::plan {
namespace {

using test::faultOf;
using test::problemOf;
using test::randomRanks;

using test::kNoLimit;

TEST(Skyline, PlacementsAreValid) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = problemOf(test::randomIntervals(1 + seed * 3, 40, 1000, seed));
    if (seed % 2 == 0) {
      for (uint64_t &size : problem.size) {
        problem.alignment.push_back(uint64_t{1} << (size % 6));
        size += -size % problem.alignment.back();
      }
    }
    Skyline skyline(problem);
    for (const Skyline::Prefer prefer : {Skyline::Prefer::kRank, Skyline::Prefer::kTouching}) {
      WorkMeter meter(kNoLimit);
      const auto placement =
          skyline.place(randomRanks(problem.count(), seed), prefer, kNoLimit, meter);
      ASSERT_TRUE(placement);
      EXPECT_EQ(faultOf(problem, *placement), "");
    }
  }
}

TEST(Skyline, StopsAtAHeightLimitAndAtAWorkLimit) {
  const Problem problem = problemOf(test::randomIntervals(100, 40, 1000, 5));
  Skyline skyline(problem);
  const std::vector<uint32_t> ranks = randomRanks(100, 5);
  WorkMeter meter(kNoLimit);
  const auto free = skyline.place(ranks, Skyline::Prefer::kRank, kNoLimit, meter);
  ASSERT_TRUE(free);
  EXPECT_FALSE(skyline.place(ranks, Skyline::Prefer::kRank, free->height, meter));
  const auto again = skyline.place(ranks, Skyline::Prefer::kRank, free->height + 1, meter);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->offset, free->offset);
  WorkMeter little(20);
  EXPECT_FALSE(skyline.place(ranks, Skyline::Prefer::kRank, kNoLimit, little));
}

} // namespace
} // namespace gantry::plan

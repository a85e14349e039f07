// Tests that the fast tier (the planner's heuristics, fast_tier.h) always finds a valid placement,
// and how close its heights come to the lower bound on generated instances (plan_instances.h).
#include "engine/plan/search/fast_tier.h"
#include "engine/plan/search/large_neighbourhood.h"
#include "tests/engine/plan/search/checked_fast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace gantry::plan {
namespace {

using test::checkedFast;
using test::faultOf;
using test::Interval;
using test::problemOf;
using test::readIntervals;

/// Returns the placement's height divided by the lower bound.
double ratio(const Problem &problem, const Placement &placement) {
  return static_cast<double>(placement.height) / static_cast<double>(problem.lowerBound);
}

TEST(FastTier, PlacesNoItemsAndOneItem) {
  EXPECT_EQ(checkedFast(problemOf({})).height, 0u);
  EXPECT_EQ(checkedFast(problemOf({{3, 9, 77}})).height, 77u);
}

TEST(FastTier, PlacementsOfRandomItemsAreValid) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem =
        problemOf(test::randomIntervals(1 + seed % 90, 1 + seed % 37, 1 + seed * 7 % 300, seed));
    const Placement placement = checkedFast(problem);
    const Placement hurried = checkedFast(problem, 1);
    EXPECT_LE(placement.height, hurried.height);
    WorkMeter meter(50'000);
    const Placement better = improvePlacement(problem, placement, 0, meter);
    EXPECT_EQ(faultOf(problem, better), "");
    EXPECT_LE(better.height, placement.height);
  }
}

TEST(FastTier, PacksGuillotineInstancesWithinOnePercentOfTheOptimum) {
  for (const uint32_t count : {100u, 1'000u, 10'000u, 100'000u})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      const Problem problem = problemOf(test::guillotinePacking(count, seed));
      EXPECT_LE(ratio(problem, checkedFast(problem)), 1.01) << count << " items, seed " << seed;
    }
}

TEST(FastTier, PacksGuillotineInstancesOfRoundedSizesWithinThreePercent) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    std::vector<Interval> intervals = test::guillotinePacking(10'000, seed);
    for (Interval &interval : intervals)
      interval.sizeBytes = (interval.sizeBytes * 317 + 99'999) / 100'000;
    const Problem problem = problemOf(intervals);
    EXPECT_LE(ratio(problem, checkedFast(problem)), 1.03) << "seed " << seed;
  }
}

TEST(FastTier, MostModelGraphsReachTheBound) {
  uint32_t atBound = 0;
  uint32_t graphs = 0;
  for (const test::GraphKind kind : test::kGraphKinds)
    for (const uint32_t count : {200u, 1'000u, 8'000u})
      for (uint64_t seed = 1; seed <= 5; ++seed, ++graphs) {
        const Problem problem = problemOf(test::modelGraph(kind, count, seed));
        const double height = ratio(problem, checkedFast(problem));
        EXPECT_LE(height, 1.03) << test::graphKindName(kind) << " " << count << ", seed " << seed;
        atBound += height == 1 ? 1 : 0;
      }
  EXPECT_GE(atBound * 10, graphs * 8);
}

TEST(FastTier, OrderOfItemsDoesNotMatterMuch) {
  const std::vector<Interval> intervals = test::modelGraph(test::GraphKind::kRecompute, 2'000, 4);
  std::vector<Interval> reversed(intervals.rbegin(), intervals.rend());
  const Problem problem = problemOf(reversed);
  EXPECT_LE(ratio(problem, checkedFast(problem)), 1.005);
}

TEST(FastTier, EqualProblemsGiveEqualPlacements) {
  for (const Problem &problem : {problemOf(test::guillotinePacking(3'000, 7, 900)),
                                 problemOf(test::modelGraph(test::GraphKind::kInference, 700, 7)),
                                 problemOf(test::randomIntervals(300, 60, 5'000, 7))}) {
    const Placement placement = checkedFast(problem);
    EXPECT_EQ(placement.offset, checkedFast(problem).offset);
    WorkMeter first(300'000);
    WorkMeter second(300'000);
    EXPECT_EQ(improvePlacement(problem, placement, 0, first).offset,
              improvePlacement(problem, placement, 0, second).offset);
    EXPECT_EQ(first.spent(), second.spent());
  }
}

TEST(FastTier, RealGraphsReachTheBound) {
  const std::filesystem::path folder = std::filesystem::path(GANTRY_SHARED) / "planner" / "real";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no folder " << folder;
  for (const char *name : {"G_1.csv", "resnet50.csv"}) {
    const std::vector<Interval> intervals = readIntervals(folder / name);
    ASSERT_GT(intervals.size(), 800u);
    const Problem problem = problemOf(intervals);
    EXPECT_EQ(checkedFast(problem).height, problem.lowerBound) << name;
  }
}

} // namespace
} // namespace gantry::plan

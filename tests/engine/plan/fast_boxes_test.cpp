// Boxes of joined items, and the skyline that packs them.
#include "engine/plan/series_parallel.h"
#include "engine/plan/skyline.h"
#include "engine/plan/fast_tier.h"
#include "engine/plan/random.h"
#include "tests/support/plan_instances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace gantry::plan {
namespace {

using test::faultOf;
using test::Interval;
using test::problemOf;

constexpr uint64_t kNoLimit = uint64_t{1} << 62;

/// The boxes on top of each other: valid, whatever they are.
Placement stacked(const Problem &problem) {
  Placement placement;
  for (const uint64_t size : problem.size) {
    placement.offset.push_back(placement.height);
    placement.height += size;
  }
  return placement;
}

/// Expanding keeps the order of what it stacks but not the height of a box whose parts differ.
void expectValid(const Problem &problem, Placement placement) {
  placement.height = 0;
  for (uint32_t item = 0; item < problem.count(); ++item)
    placement.height = std::max(placement.height, placement.offset[item] + problem.size[item]);
  EXPECT_EQ(faultOf(problem, placement), "");
}

TEST(Boxes, EqualLifetimesBecomeOne) {
  const Problem problem = problemOf({{0, 4, 10}, {0, 4, 20}, {0, 4, 30}});
  const SeriesParallel joined(problem, 0);
  ASSERT_EQ(joined.reduced().count(), 1u);
  EXPECT_EQ(joined.reduced().size[0], 60u);
  EXPECT_EQ(joined.reduced().lowerBound, 60u);
  expectValid(problem, joined.expand(stacked(joined.reduced())));
}

TEST(Boxes, WhatTakesAnothersPlaceJoinsIt) {
  const Problem problem = problemOf({{0, 4, 10}, {4, 7, 10}, {7, 9, 6}, {7, 9, 4}});
  const SeriesParallel joined(problem, 0);
  ASSERT_EQ(joined.reduced().count(), 1u);
  EXPECT_EQ(joined.reduced().stepCount, 1u);
  const Placement placement = joined.expand(stacked(joined.reduced()));
  EXPECT_EQ(faultOf(problem, placement), "");
  EXPECT_EQ(placement.height, 10u);
}

TEST(Boxes, UnequalSizesJoinWithinTheToleranceOnly) {
  const Problem problem = problemOf({{0, 4, 1000}, {4, 9, 995}});
  EXPECT_EQ(SeriesParallel(problem, 0).reduced().count(), 2u);
  EXPECT_EQ(SeriesParallel(problem, 0.004).reduced().count(), 2u);
  const SeriesParallel joined(problem, 0.005);
  ASSERT_EQ(joined.reduced().count(), 1u);
  EXPECT_EQ(joined.reduced().size[0], 1000u);
}

TEST(Boxes, APrematureJoinIsTakenApart) {
  // At 3 two cuts meet: what begins there has one lifetime and would be one box of 100, but the
  // enders, of different begins, have left 60 and 40.
  const Problem problem = problemOf({{0, 3, 60}, {1, 3, 40}, {3, 5, 60}, {3, 5, 40}, {0, 1, 40}});
  const SeriesParallel joined(problem, 0);
  EXPECT_EQ(joined.reduced().count(), 1u);
  const Placement placement = joined.expand(stacked(joined.reduced()));
  EXPECT_EQ(faultOf(problem, placement), "");
  EXPECT_EQ(placement.height, 100u);
}

TEST(Boxes, FixedItemsStayAsTheyAre) {
  Problem problem = problemOf({{0, 4, 10}, {0, 4, 20}, {0, 4, 30}});
  problem.fixedOffset = {kFreeOffset, 512, kFreeOffset};
  const SeriesParallel joined(problem, 0);
  ASSERT_EQ(joined.reduced().count(), 2u);
  EXPECT_EQ(
      std::count(joined.reduced().fixedOffset.begin(), joined.reduced().fixedOffset.end(), 512u),
      1);
}

TEST(Boxes, KeepAlignments) {
  Random random(3);
  std::vector<Interval> intervals = test::guillotinePacking(400, 3);
  Problem problem = problemOf(intervals);
  for (uint32_t item = 0; item < problem.count(); ++item)
    problem.alignment.push_back(uint64_t{1} << random.below(9)); // sizes are multiples of 256
  for (const double tolerance : {0.0, 0.1}) {
    const SeriesParallel joined(problem, tolerance);
    EXPECT_LT(joined.reduced().count(), problem.count());
    Placement boxes;
    for (uint32_t box = 0; box < joined.reduced().count(); ++box) {
      EXPECT_EQ(joined.reduced().size[box] % joined.reduced().alignmentOf(box), 0u);
      boxes.height += -boxes.height % joined.reduced().alignmentOf(box);
      boxes.offset.push_back(boxes.height);
      boxes.height += joined.reduced().size[box];
    }
    expectValid(problem, joined.expand(boxes));
  }
}

TEST(Boxes, AnyPlacementOfBoxesIsOneOfItems) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = problemOf(test::randomIntervals(80, 2 + seed % 12, 1 + seed % 5, seed));
    for (const double tolerance : {0.0, 0.25, 1.0}) {
      const SeriesParallel joined(problem, tolerance);
      if (tolerance == 0) {
        EXPECT_EQ(joined.reduced().lowerBound, problem.lowerBound);
      }
      expectValid(problem, joined.expand(stacked(joined.reduced())));
    }
  }
}

// ---- the skyline -------------------------------------------------------------------------------

std::vector<uint32_t> randomRanks(uint32_t count, uint64_t seed) {
  Random random(seed);
  std::vector<uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 1u);
  for (uint32_t i = count; i > 1; --i)
    std::swap(ranks[i - 1], ranks[random.below(i)]);
  return ranks;
}

TEST(ValleyIndex, FindsWhatAScanFinds) {
  Random random(11);
  for (uint32_t round = 0; round < 40; ++round) {
    const uint32_t steps = 1 + random.below(30);
    const uint32_t count = 1 + random.below(200);
    const std::vector<Interval> intervals = test::randomIntervals(count, steps, 1, round);
    std::vector<uint32_t> begin;
    std::vector<uint32_t> end;
    for (const Interval &interval : intervals) {
      begin.push_back(interval.begin);
      end.push_back(interval.end);
    }
    const std::vector<uint32_t> ranks = randomRanks(count, round);
    std::vector<bool> removed(count, false);
    ValleyIndex index(begin, end, steps);
    index.reset(ranks);
    for (uint32_t query = 0; query < 100; ++query) {
      const uint32_t first = random.below(steps);
      const uint32_t last = first + random.below(steps - first);
      const uint32_t lastEnd = 1 + random.below(steps);
      uint32_t best = ValleyIndex::kNone;
      uint32_t exact = ValleyIndex::kNone;
      for (uint32_t item = 0; item < count; ++item) {
        if (removed[item])
          continue;
        if (begin[item] >= first && begin[item] <= last && end[item] <= lastEnd &&
            (best == ValleyIndex::kNone || ranks[item] > ranks[best]))
          best = item;
        if (begin[item] == first && end[item] == lastEnd &&
            (exact == ValleyIndex::kNone || ranks[item] > ranks[exact]))
          exact = item;
      }
      ASSERT_EQ(index.best(first, last, lastEnd), best) << "round " << round;
      ASSERT_EQ(index.bestExactly(first, lastEnd), exact) << "round " << round;
      if (best != ValleyIndex::kNone) {
        index.remove(best);
        removed[best] = true;
      }
    }
  }
}

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
    if (seed % 3 == 0)
      problem.regionSize = 1024;
    Skyline skyline(problem);
    for (const Skyline::Prefer prefer : {Skyline::Prefer::kRank, Skyline::Prefer::kTouching}) {
      WorkMeter meter(kNoLimit);
      const auto placement =
          skyline.place(randomRanks(problem.count(), seed), prefer, kNoLimit, meter);
      ASSERT_TRUE(placement);
      EXPECT_EQ(faultOf(problem, *placement), "");
      for (uint32_t item = 0; item < problem.count() && problem.regionSize != 0; ++item) {
        EXPECT_EQ(placement->offset[item] / problem.regionSize,
                  (placement->offset[item] + problem.size[item] - 1) / problem.regionSize);
      }
    }
  }
}

TEST(Skyline, StopsAtALimit) {
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

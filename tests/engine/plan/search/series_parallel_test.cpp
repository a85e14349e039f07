// Tests SeriesParallel, which joins items to larger rectangles, called boxes. The tests check which
// items are joined, and that every placement of the boxes expands to a valid placement of the
// items.
#include "engine/plan/search/series_parallel.h"
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

/// Places all boxes on top of each other, which is valid if no box has an alignment.
Placement stacked(const Problem &problem) {
  Placement placement;
  for (const uint64_t size : problem.size) {
    placement.offset.push_back(placement.height);
    placement.height += size;
  }
  return placement;
}

/// Checks the offsets and ignores the height: a box whose parts have different sizes may be taller
/// than its items.
void expectValid(const Problem &problem, Placement placement) {
  placement.height = 0;
  for (uint32_t item = 0; item < problem.count(); ++item)
    placement.height = std::max(placement.height, placement.offset[item] + problem.size[item]);
  EXPECT_EQ(faultOf(problem, placement), "");
}

TEST(SeriesParallel, ItemsWithEqualLifetimesJoin) {
  const Problem problem = problemOf({{0, 4, 10}, {0, 4, 20}, {0, 4, 30}});
  const SeriesParallel joined(problem, 0);
  ASSERT_EQ(joined.reduced().count(), 1u);
  EXPECT_EQ(joined.reduced().size[0], 60u);
  EXPECT_EQ(joined.reduced().lowerBound, 60u);
  expectValid(problem, joined.expand(stacked(joined.reduced())));
}

TEST(SeriesParallel, SuccessiveItemsOfEqualSizeJoin) {
  const Problem problem = problemOf({{0, 4, 10}, {4, 7, 10}, {7, 9, 6}, {7, 9, 4}});
  const SeriesParallel joined(problem, 0);
  ASSERT_EQ(joined.reduced().count(), 1u);
  EXPECT_EQ(joined.reduced().stepCount, 1u);
  const Placement placement = joined.expand(stacked(joined.reduced()));
  EXPECT_EQ(faultOf(problem, placement), "");
  EXPECT_EQ(placement.height, 10u);
}

TEST(SeriesParallel, UnequalSizesJoinWithinTheToleranceOnly) {
  const Problem problem = problemOf({{0, 4, 1000}, {4, 9, 995}});
  EXPECT_EQ(SeriesParallel(problem, 0).reduced().count(), 2u);
  EXPECT_EQ(SeriesParallel(problem, 0.004).reduced().count(), 2u);
  const SeriesParallel joined(problem, 0.005);
  ASSERT_EQ(joined.reduced().count(), 1u);
  EXPECT_EQ(joined.reduced().size[0], 1000u);
}

TEST(SeriesParallel, APrematureJoinIsTakenApart) {
  // The two items that begin at 3 have equal lifetimes and join to one box of 100 bytes. This box
  // cannot join further: the two items that end at 3 begin at different moments, so they do not
  // join to a box of 100 bytes. Each item that begins at 3 must instead join the item of its own
  // size that ends at 3.
  const Problem problem = problemOf({{0, 3, 60}, {1, 3, 40}, {3, 5, 60}, {3, 5, 40}});
  const SeriesParallel joined(problem, 0);
  EXPECT_EQ(joined.reduced().count(), 2u);
  const Placement placement = joined.expand(stacked(joined.reduced()));
  EXPECT_EQ(faultOf(problem, placement), "");
  EXPECT_EQ(placement.height, 100u);
}

TEST(SeriesParallel, BoxesKeepTheAlignmentsOfTheirItems) {
  Random random(3);
  std::vector<Interval> intervals = test::guillotinePacking(400, 3);
  Problem problem = problemOf(intervals);
  for (uint32_t item = 0; item < problem.count(); ++item)
    problem.alignment.push_back(uint64_t{1} << random.below(9)); // Sizes are multiples of 256.
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

TEST(SeriesParallel, APlacementOfBoxesExpandsToAPlacementOfItems) {
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

} // namespace
} // namespace gantry::plan

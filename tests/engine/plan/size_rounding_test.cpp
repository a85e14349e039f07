// Coarser sizes where alignments differ.
#include "engine/plan/size_rounding.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

/// Three items of one box in time and a fourth beside them; 100 bytes fill the first step.
Problem mixed() {
  Problem problem;
  problem.begin = {0, 0, 0, 1};
  problem.end = {1, 1, 2, 2};
  problem.size = {17, 30, 33, 5};
  problem.alignment = {1, 4, 16, 1};
  problem.stepCount = 2;
  problem.lowerBound = 80;
  return problem;
}

TEST(SizeRounding, OwnAlignmentsFirst) {
  const Problem rounded = roundedToOwnAlignment(mixed());
  EXPECT_EQ(rounded.size, (std::vector<uint64_t>{17, 32, 48, 5}));
  EXPECT_EQ(rounded.lowerBound, 97u);
  EXPECT_EQ(rounded.peakStep, 0u);
  EXPECT_EQ(rounded.alignment, mixed().alignment);
}

TEST(SizeRounding, OthersWhereThereIsRoom) {
  // The last item is alive where there is room; the first is not until the capacity allows it.
  RoundingStyle style;
  style.toLargest = true;
  std::optional<Problem> rounded = roundedFreely(mixed(), style, 200);
  ASSERT_TRUE(rounded);
  EXPECT_EQ(rounded->size, (std::vector<uint64_t>{17, 32, 48, 16}));
  EXPECT_EQ(rounded->alignment, (std::vector<uint64_t>{1, 16, 16, 16}));
  style.eighths = 8;
  rounded = roundedFreely(mixed(), style, 112 + 1);
  ASSERT_TRUE(rounded);
  EXPECT_EQ(rounded->size, (std::vector<uint64_t>{32, 32, 48, 16}));
  EXPECT_EQ(rounded->lowerBound, 112u);
}

TEST(SizeRounding, NothingBelowTheRoundedBound) {
  EXPECT_FALSE(roundedFreely(mixed(), {}, 96));
  EXPECT_TRUE(roundedFreely(mixed(), {}, 97));
}

TEST(SizeRounding, FixedItemsStay) {
  Problem problem = mixed();
  problem.fixedOffset = {kFreeOffset, 68, kFreeOffset, kFreeOffset};
  EXPECT_EQ(roundedToOwnAlignment(problem).size, (std::vector<uint64_t>{17, 30, 48, 5}));
}

TEST(SizeRounding, KnowsWhereAlignmentsDiffer) {
  EXPECT_TRUE(hasMixedAlignments(mixed()));
  Problem problem = mixed();
  problem.alignment = {8, 8, 8, 8};
  EXPECT_FALSE(hasMixedAlignments(problem));
  problem.alignment.clear();
  EXPECT_FALSE(hasMixedAlignments(problem));
}

} // namespace
} // namespace gantry::plan

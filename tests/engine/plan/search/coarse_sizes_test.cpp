// Tests coarsen() on tight packings whose sizes were multiples of a unit before each was reduced a
// little: coarsen() must find the unit. Planner.ChallengingProblemsOfRoundedSizesFit tests that the
// planner solves such problems.
#include "engine/plan/search/coarse_sizes.h"
#include "engine/plan/plan.h"
#include "tests/support/plan_instances.h"

#include <gtest/gtest.h>
#include <random>

namespace gantry::plan {
namespace {

constexpr uint64_t kUnit = 100'000;
constexpr uint64_t kUnits = 256;

/// Returns a packing without gaps of twelve layers. Each layer has a random height in whole units
/// and is cut in time at random. Then each size is reduced by up to `loss` bytes.
std::vector<Value> nearlyWhole(uint64_t seed, uint64_t loss) {
  std::mt19937_64 random(seed);
  std::vector<Value> values;
  uint64_t left = kUnits;
  for (uint64_t layers = 12; layers > 0; --layers) {
    const uint64_t units = layers == 1 ? left : 1 + random() % (2 * left / layers - 1);
    left -= units;
    for (uint32_t begin = 0; begin < 64;) {
      const uint32_t end = std::min<uint32_t>(64, begin + 8 + random() % 24);
      values.push_back({units * kUnit - random() % (loss + 1), 1, begin, end - 1});
      begin = end;
    }
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

Problem problemOf(const std::vector<Value> &values) {
  std::vector<test::Interval> intervals;
  for (const Value &value : values)
    intervals.push_back({value.firstUse, value.lastUse + 1, value.sizeBytes});
  return test::problemOf(intervals);
}

TEST(CoarseSizes, FindTheUnitOfTheOriginalSizes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<Value> values = nearlyWhole(seed, 100);
    WorkMeter meter(10'000'000);
    const std::optional<CoarseSizes> coarse = coarsen(problemOf(values), meter);
    ASSERT_TRUE(coarse.has_value());
    EXPECT_LE(coarse->parts, kUnits);
    EXPECT_LE(coarse->rounded.lowerBound, coarse->parts);
    EXPECT_LE(coarse->capacityBytes, kUnits * kUnit);
    EXPECT_EQ(coarse->partsWithin(coarse->capacityBytes), coarse->parts);
  }
}

/// Stacks all items with their rounded sizes, which are in parts (coarse_sizes.h). The same stack
/// with the true sizes must lie within the bytes of as many parts.
TEST(CoarseSizes, PlacementsWithinThePartsAreWithinTheCapacity) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = problemOf(nearlyWhole(seed, 1000));
    WorkMeter meter(10'000'000);
    const std::optional<CoarseSizes> coarse = coarsen(problem, meter);
    ASSERT_TRUE(coarse.has_value());
    std::vector<uint64_t> stacked;
    uint64_t parts = 0;
    for (const uint64_t size : coarse->rounded.size) {
      stacked.push_back(parts);
      parts += size;
    }
    const Placement placement = pushDown(problem, stacked);
    EXPECT_EQ(test::faultOf(problem, placement), "");
    EXPECT_LE(coarse->partsWithin(placement.height), parts);
  }
}

} // namespace
} // namespace gantry::plan

// Tests EjectionSearch alone: its placements are valid with alignments, and it finds
// placements that are known to exist.
#include "engine/plan/search/ejection_search.h"
#include "engine/plan/problem_builder.h"
#include "tests/engine/plan/random_requests.h"
#include "tests/support/plan_instances.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

using test::kNoLimit;

/// The capacity has room for a stack of all items.
TEST(EjectionSearch, KeepsAlignments) {
  uint32_t found = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    RandomShape shape;
    shape.count = 3 + static_cast<uint32_t>(seed % 9);
    shape.maxAlignmentBits = static_cast<uint32_t>(seed % 5);
    const std::vector<Value> values = randomValues(random, shape);
    const BuiltProblem built = buildProblem(values);
    const Problem &problem = built.problem;
    ASSERT_TRUE(EjectionSearch::canSearch(problem));
    uint64_t capacity = 4096;
    for (uint32_t i = 0; i < problem.count(); ++i)
      capacity += problem.size[i] + problem.alignmentOf(i);
    WorkMeter meter(1'000'000);
    std::vector<uint64_t> offsets;
    if (!EjectionSearch(problem).fit(capacity, meter, offsets))
      continue;
    ++found;
    Plan plan;
    plan.heightBytes = heightOf(problem, offsets);
    for (size_t i = 0; i < values.size(); ++i)
      plan.offsets.push_back(built.itemOfValue[i] == kNoItem ? 0 : offsets[built.itemOfValue[i]]);
    const Status valid = validatePlan(values, plan);
    EXPECT_TRUE(valid.isOk()) << valid.message();
  }
  EXPECT_GT(found, 200u);
}

void expectFits(const Problem &problem, uint64_t capacity) {
  WorkMeter meter(100'000'000);
  Placement placement;
  ASSERT_TRUE(EjectionSearch(problem).fit(capacity, meter, placement.offset));
  placement.height = heightOf(problem, placement.offset);
  EXPECT_LE(placement.height, capacity);
  EXPECT_EQ(test::faultOf(problem, placement), "");
}

TEST(EjectionSearch, FindsAPackingInSixPercentMoreThanTheBound) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = test::problemOf(test::guillotinePacking(60, seed));
    const uint64_t capacity = problem.lowerBound / 100 * 106;
    expectFits(problem, capacity);
  }
}

/// The search divides all sizes by their common divisor, and uses 64-bit numbers if the results do
/// not fit 32 bits (item_table.h). Here the common divisor is 1 and the sizes exceed 32 bits.
TEST(EjectionSearch, FindsAPackingWithHeightsAbove32Bits) {
  Problem problem = test::problemOf(test::guillotinePacking(60, 1));
  const uint64_t capacity = problem.lowerBound / 100 * 106 << 20;
  for (uint64_t &size : problem.size)
    size = (size << 20) + 1;
  expectFits(problem, capacity);
}

TEST(EjectionSearch, StopsAtItsWorkLimitAndResumes) {
  const Problem problem = test::problemOf(test::guillotinePacking(60, 5));
  const uint64_t capacity = problem.lowerBound / 100 * 106;
  std::vector<uint64_t> whole;
  WorkMeter free(kNoLimit);
  ASSERT_TRUE(EjectionSearch(problem).fit(capacity, free, whole));
  EjectionSearch search(problem);
  std::vector<uint64_t> parts;
  uint32_t calls = 0;
  for (bool found = false; !found; ++calls) {
    ASSERT_LT(calls, 100'000u);
    WorkMeter little(2'000);
    found = search.fit(capacity, little, parts);
  }
  EXPECT_GT(calls, 1u);
  WorkMeter none(kNoLimit);
  EXPECT_FALSE(EjectionSearch(problem).fit(0, none, parts));
}

} // namespace
} // namespace gantry::plan

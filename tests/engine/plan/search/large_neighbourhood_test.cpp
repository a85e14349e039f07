// Tests that the large-neighbourhood search lowers placements of the fast tier (fast_tier.h), on
// generated instances (plan_instances.h) and on the challenging instances published with the
// allocator minimalloc.
#include "engine/plan/search/large_neighbourhood.h"
#include "tests/engine/plan/search/checked_fast.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gantry::plan {
namespace {

using test::checkedFast;
using test::faultOf;
using test::Interval;
using test::problemOf;
using test::readIntervals;

TEST(LargeNeighbourhood, LowersPlacementsOfTheFastTier) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Problem problem = problemOf(test::guillotinePacking(1'000, seed, 150));
    const Placement start = checkedFast(problem, 1);
    WorkMeter meter(20'000'000);
    const Placement better = improvePlacement(problem, start, 0, meter);
    EXPECT_EQ(faultOf(problem, better), "");
    EXPECT_LT(better.height, start.height) << "seed " << seed;
    WorkMeter toTarget(20'000'000);
    const Placement enough = improvePlacement(problem, start, start.height - 1, toTarget);
    EXPECT_LT(enough.height, start.height);
    EXPECT_LE(toTarget.spent(), meter.spent());
  }
}

TEST(LargeNeighbourhood, TightInstancesFitTheirCapacity) {
  const std::filesystem::path folder =
      std::filesystem::path(GANTRY_SHARED) / "planner" / "challenging";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no folder " << folder;
  constexpr uint64_t kCapacity = 1'048'576;
  uint32_t instances = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv")
      continue;
    ++instances;
    const Problem problem = problemOf(readIntervals(entry.path()));
    WorkMeter meter(100'000'000);
    const Placement placement = improvePlacement(problem, checkedFast(problem), kCapacity, meter);
    EXPECT_EQ(faultOf(problem, placement), "");
    EXPECT_LE(placement.height, kCapacity) << entry.path().filename();
  }
  EXPECT_GE(instances, 11u);
}

} // namespace
} // namespace gantry::plan

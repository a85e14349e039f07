// Tests the exact search alone: which capacities it proves to be too small. Plans of whole requests
// are tested by optimum_test.cpp.
#include "engine/plan/search/valley_search.h"
#include "engine/plan/problem_builder.h"
#include "engine/plan/search/ejection_search.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 62;

/// A fixed item at bytes 150 to 200 leaves room for one of two free items of 100 bytes below it.
/// The lowest placement has 300 bytes, more than the sum of all sizes and alignments.
TEST(ValleySearch, ProvesNoCapacityTooSmallInWhichFreeItemsFitAboveAFixedOne) {
  const std::vector<Value> values = {{100, 1, 0, 4}, {100, 1, 0, 4}, {50, 1, 0, 4}};
  Result<BuiltProblem> built = buildProblem(values, std::vector<Pin>{{2, 150}});
  ASSERT_TRUE(built.isOk()) << built.status().message();
  ValleySearch search(built->problem);
  std::vector<uint64_t> offsets;
  WorkMeter meter(kNoLimit);
  EXPECT_EQ(search.run(299, {}, 1000, meter, offsets), SearchResult::kInfeasible);
  EXPECT_EQ(search.run(300, {}, 1000, meter, offsets), SearchResult::kFound);
  EXPECT_TRUE(EjectionSearch(built->problem).fit(300, meter, offsets));
}

} // namespace
} // namespace gantry::plan

// Compares the plans of small random requests with brute force: each plan must have the minimum
// height, and the planner must prove the minimum.
#include "tests/engine/plan/brute_force.h"
#include "tests/engine/plan/random_requests.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

struct Case {
  const char *name;
  RandomShape shape;
  int rounds;
};

class SmallRequests : public testing::TestWithParam<Case> {};

TEST_P(SmallRequests, AreOptimal) {
  const Case &parameters = GetParam();
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < parameters.rounds; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " of seed " << seed);
    const std::vector<Value> values = randomValues(random, parameters.shape);
    const uint64_t minimum = minHeight(values);
    const Result<Plan> plan = planArena(values);
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    const Status valid = validatePlan(values, *plan);
    ASSERT_TRUE(valid.isOk()) << valid.message();
    ASSERT_EQ(plan->heightBytes, minimum);
    ASSERT_EQ(plan->provenBoundBytes, minimum);
    ASSERT_LE(plan->lowerBoundBytes, minimum);
  }
}

constexpr RandomShape kSmall = {.count = 6, .commands = 9, .maxSizeBytes = 9, .maxCommands = 5};
constexpr RandomShape kTwelve = {.count = 12, .commands = 24, .maxSizeBytes = 9, .maxCommands = 3};
constexpr RandomShape kAligned = {
    .count = 6, .commands = 8, .maxSizeBytes = 20, .maxCommands = 5, .maxAlignmentBits = 3};

INSTANTIATE_TEST_SUITE_P(Planner, SmallRequests,
                         testing::Values(Case{"Plain", kSmall, 400},
                                         Case{"TwelveValues", kTwelve, 30},
                                         Case{"Aligned", kAligned, 300}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace gantry::plan

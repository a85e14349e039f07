// Small random requests under every constraint: the plan's height is the least there is, and the
// planner says that it is proven.
#include "tests/engine/plan/brute_force.h"
#include "tests/engine/plan/random_requests.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

struct Case {
  const char *name;
  RandomShape shape;
  RandomConstraints constraints;
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
    PlanRequest request;
    request.constraints = randomConstraints(random, values, parameters.constraints);
    const std::optional<uint64_t> least = leastHeight(values, request.constraints);
    const Result<Plan> plan = planArena(values, request);
    ASSERT_EQ(plan.isOk(), least.has_value()) << plan.status().message();
    if (!least)
      continue;
    const Status valid = validatePlan(values, *plan, request.constraints);
    ASSERT_TRUE(valid.isOk()) << valid.message();
    ASSERT_EQ(plan->heightBytes, *least);
    ASSERT_EQ(plan->provenBoundBytes, *least);
    ASSERT_LE(plan->lowerBoundBytes, *least);
  }
}

constexpr RandomShape kTwelve = {.count = 12, .commands = 24, .largest = 9, .longest = 3};

TEST(Planner, SharingsOfTwelveValuesAreOptimal) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " of seed " << seed);
    const std::vector<Value> values = randomValues(random, kTwelve);
    PlanRequest request;
    request.constraints = randomConstraints(random, values, {.sharings = true});
    const Result<Plan> plan = planArena(values, request);
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    const Status valid = validatePlan(values, *plan, request.constraints);
    ASSERT_TRUE(valid.isOk()) << valid.message();
    ASSERT_FALSE(leastHeight(values, request.constraints, plan->heightBytes).has_value());
    const Result<Plan> without = planArena(values);
    ASSERT_LE(plan->heightBytes, without->heightBytes);
  }
}

constexpr RandomShape kSmall = {.count = 6, .commands = 9, .largest = 9, .longest = 5};
constexpr RandomShape kAligned = {
    .count = 6, .commands = 8, .largest = 20, .longest = 5, .mostAlignment = 3};

INSTANTIATE_TEST_SUITE_P(
    Planner, SmallRequests,
    testing::Values(
        Case{"plain", kSmall, {}, 400}, Case{"aligned", kAligned, {}, 300},
        Case{"pins", kSmall, {.pins = true}, 300}, Case{"gaps", kSmall, {.gaps = true}, 300},
        Case{"zones", kSmall, {.zones = true}, 300},
        Case{"required", kSmall, {.required = true}, 300},
        Case{"sharings", kSmall, {.sharings = true}, 300},
        Case{"all", kAligned, {.pins = true, .gaps = true, .sharings = true, .zones = true}, 200}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace gantry::plan

// Tests requests with pins (fixed offsets of values), deadlines and work limits: which plans
// result, and which requests are refused. optimum_test.cpp tests that plans with pins are optimal,
// fuzz_test.cpp that they are valid.
#include "engine/plan/plan.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

Plan planned(const std::vector<Value> &values, const std::vector<Pin> &pins) {
  PlanRequest request;
  request.pins = pins;
  Result<Plan> plan = planArena(values, request);
  EXPECT_TRUE(plan.isOk()) << plan.status().message();
  if (!plan.isOk())
    return {};
  const Status valid = validatePlan(values, *plan, pins);
  EXPECT_TRUE(valid.isOk()) << valid.message();
  return plan.take();
}

void expectRefused(const std::vector<Value> &values, const std::vector<Pin> &pins,
                   const char *words) {
  PlanRequest request;
  request.pins = pins;
  const Result<Plan> plan = planArena(values, request);
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(plan.status().message().find(words), std::string::npos) << plan.status().message();
}

const std::vector<Value> kThree = {{10, 1, 0, 4}, {20, 1, 0, 4}, {30, 4, 0, 4}};

TEST(Pins, AreKept) {
  const Plan plan = planned(kThree, {{0, 32}, {1, 44}});
  EXPECT_EQ(plan.offsets, (std::vector<uint64_t>{32, 44, 0}));
  EXPECT_EQ(plan.heightBytes, 64u);
}

TEST(Pins, AreKeptForValuesWithoutBytes) {
  EXPECT_EQ(planned({{0, 16, 0, 4}, {8, 8, 0, 4}}, {{0, 32}}).offsets[0], 32u);
}

TEST(Pins, AlignmentsNeedNotShareAFactorWithSizes) {
  // The pinned value covers bytes 18 to 20. Its offset and size are multiples of 3 and the other
  // size is a multiple of 7, but the lowest offset left for the other value, 32, is a multiple of
  // neither.
  const Plan plan = planned({{91, 32, 0, 0}, {3, 1, 0, 0}}, {{1, 18}});
  EXPECT_EQ(plan.offsets[0], 32u);
  EXPECT_EQ(plan.heightBytes, 123u);
  EXPECT_EQ(plan.provenBoundBytes, 123u);
}

TEST(Pins, OfValuesWithSeparateLifetimesMayShareBytes) {
  EXPECT_EQ(planned({{8, 8, 0, 1}, {8, 8, 2, 3}}, {{0, 0}, {1, 0}}).heightBytes, 8u);
}

TEST(Pins, ThatCannotBeKeptAreRefusedByName) {
  expectRefused(kThree, {{3, 0}}, "pin 0 names value 3, but there are 3 values");
  expectRefused(kThree, {{2, 6}}, "no multiple of its alignment 4");
  expectRefused(kThree, {{0, 0}, {0, 8}}, "value 0 is pinned twice");
  expectRefused(kThree, {{0, 0}, {1, 9}}, "values 0 and 1 are pinned so that they overlap");
  expectRefused(kThree, {{1, 0}, {0, 19}}, "values 0 and 1 are pinned so that they overlap");
  expectRefused(kThree, {{0, UINT64_MAX}}, "offsets up to");
  expectRefused({{uint64_t{1} << 60, 1, 0, 0}}, {{0, 0}}, "with pins they must be below");
}

TEST(Planner, RefusesANegativeDeadline) {
  PlanRequest request;
  request.deadlineSeconds = -1;
  const Result<Plan> plan = planArena(kThree, request);
  ASSERT_FALSE(plan.isOk());
  EXPECT_NE(plan.status().message().find("the deadline is -1 s"), std::string::npos);
}

TEST(Planner, AWorkLimitOfOneStillPlans) {
  std::vector<Value> values;
  for (uint32_t i = 0; i < 60; ++i)
    values.push_back({i * 37 % 64 + 1, 1, i % 13, i % 13 + i % 7});
  PlanRequest request;
  request.workLimit = 1;
  const Result<Plan> plan = planArena(values, request);
  ASSERT_TRUE(plan.isOk());
  EXPECT_TRUE(validatePlan(values, *plan).isOk());
}

} // namespace
} // namespace gantry::plan

// Tests deadlines and work limits of requests (PlanRequest).
#include "engine/plan/plan.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

TEST(Planner, RefusesANegativeDeadline) {
  PlanRequest request;
  request.deadlineSeconds = -1;
  const Result<Plan> plan = planArena({{10, 1, 0, 4}}, request);
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

// Each constraint by itself, and what is refused. That plans under them are optimal is
// optimum_test.cpp's, that they are valid fuzz_test.cpp's.
#include "engine/plan/plan.h"

#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

Plan planned(const std::vector<Value> &values, const Constraints &constraints) {
  PlanRequest request;
  request.constraints = constraints;
  Result<Plan> plan = planArena(values, request);
  EXPECT_TRUE(plan.isOk()) << plan.status().message();
  if (!plan.isOk())
    return {};
  const Status valid = validatePlan(values, *plan, constraints);
  EXPECT_TRUE(valid.isOk()) << valid.message();
  return plan.take();
}

void refused(const std::vector<Value> &values, const Constraints &constraints, StatusCode code,
             const char *words) {
  PlanRequest request;
  request.constraints = constraints;
  const Result<Plan> plan = planArena(values, request);
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), code);
  EXPECT_NE(plan.status().message().find(words), std::string::npos) << plan.status().message();
}

const std::vector<Value> kThree = {{10, 1, 0, 4}, {20, 1, 0, 4}, {30, 4, 0, 4}};

TEST(Constraints, PinsHold) {
  const Plan plan = planned(kThree, {.pins = {{0, 32, 0}, {1, 44, 0}}});
  EXPECT_EQ(plan.offsets, (std::vector<uint64_t>{32, 44, 0}));
  EXPECT_EQ(plan.heightBytes, 64u);
}

TEST(Constraints, AGapLetsOthersIn) {
  const std::vector<Value> values = {{100, 1, 0, 9}, {100, 1, 3, 5}};
  EXPECT_EQ(planned(values, {}).heightBytes, 200u);
  EXPECT_EQ(planned(values, {.gaps = {{0, 3, 5}}}).heightBytes, 100u);
  EXPECT_EQ(planned(values, {.gaps = {{0, 4, 5}}}).heightBytes, 200u);
  EXPECT_EQ(planned(values, {.gaps = {{0, 3, 3}, {0, 4, 5}}}).heightBytes, 100u);
}

TEST(Constraints, SharingIsChosenWhereItHelps) {
  // A chain of three in place: 64 bytes; apart, two of them are alive at commands 1 and 2.
  const std::vector<Value> values = {{64, 1, 0, 1}, {64, 1, 1, 2}, {64, 1, 2, 3}};
  EXPECT_EQ(planned(values, {}).heightBytes, 128u);
  const Plan plan = planned(values, {.sharings = {{0, 1, false}, {1, 2, false}}});
  EXPECT_EQ(plan.heightBytes, 64u);
  EXPECT_EQ(plan.lowerBoundBytes, 64u);
  EXPECT_EQ(plan.provenBoundBytes, 64u);
}

TEST(Constraints, OnlyOneResultTakesAnOperandsPlace) {
  // Both results may take the place of value 0, but not each other's.
  const std::vector<Value> values = {{64, 1, 0, 1}, {64, 1, 1, 2}, {64, 1, 1, 2}};
  EXPECT_EQ(planned(values, {.sharings = {{0, 1, false}, {0, 2, false}}}).heightBytes, 128u);
}

TEST(Constraints, RequiredSharingHasOneOffset) {
  const std::vector<Value> values = {{64, 1, 0, 1}, {100, 1, 1, 2}, {8, 1, 5, 6}};
  const Plan plan = planned(values, {.sharings = {{0, 1, true}, {0, 2, true}}});
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_EQ(plan.heightBytes, 100u);
}

TEST(Constraints, AGroupTakesAtEachMomentWhatItNeeds) {
  // The large member is over when the other value begins, so both fit below 100.
  const std::vector<Value> values = {{100, 1, 0, 2}, {40, 1, 2, 6}, {60, 1, 3, 5}};
  EXPECT_EQ(planned(values, {.sharings = {{0, 1, true}}}).heightBytes, 100u);
}

TEST(Constraints, ZonesStayFree) {
  const Plan plan = planned({{10, 1, 0, 4}, {20, 1, 0, 4}}, {.zones = {{5, 10, 2, 3, 0}}});
  EXPECT_EQ(plan.heightBytes, 45u);
  // A zone at another time is in nobody's way.
  EXPECT_EQ(planned({{10, 1, 0, 4}}, {.zones = {{0, 100, 5, 9, 0}}}).heightBytes, 10u);
  // A zone up to the end of all addresses is a capacity.
  EXPECT_EQ(planned({{10, 1, 0, 4}}, {.zones = {{10, UINT64_MAX}}}).heightBytes, 10u);
}

TEST(Constraints, AlignmentsNeedNotShareAFactorWithSizes) {
  // The sizes and the zone are multiples of 3, the only offsets above the zone are not.
  const Plan plan = planned({{91, 32, 0, 0}}, {.zones = {{18, 3, 0, 0, 0}}});
  EXPECT_EQ(plan.offsets[0], 32u);
  EXPECT_EQ(plan.provenBoundBytes, 128u);
}

TEST(Constraints, SeveralArenasKeepTheirCap) {
  std::vector<Value> values;
  for (int i = 0; i < 9; ++i)
    values.push_back({40, 8, 0, 3});
  const Constraints constraints = {.arenaCapBytes = 100, .mostArenas = 5};
  const Plan plan = planned(values, constraints);
  EXPECT_EQ(plan.arenaHeights.size(), 5u);
  EXPECT_EQ(plan.heightBytes, 360u);
  refused(values, {.arenaCapBytes = 100, .mostArenas = 4}, StatusCode::kOutOfMemory,
          "5 arenas of 100 bytes, more than the 4 allowed");
  refused(values, {.arenaCapBytes = 100}, StatusCode::kOutOfMemory,
          "needs 360 bytes, more than the 100 of one arena");
  refused(values, {.arenaCapBytes = 39, .mostArenas = 20}, StatusCode::kOutOfMemory,
          "value 0 needs 40 bytes");
}

TEST(Constraints, PinsAndZonesNameTheirArena) {
  const Constraints constraints = {
      .pins = {{0, 16, 1}}, .zones = {{0, 64, 0, 9, 0}}, .arenaCapBytes = 64, .mostArenas = 2};
  const Plan plan = planned({{48, 16, 0, 4}, {16, 16, 0, 4}}, constraints);
  EXPECT_EQ(plan.arenas, (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(plan.offsets, (std::vector<uint64_t>{16, 0}));
  EXPECT_EQ(plan.heightBytes, 64u);
}

TEST(Constraints, WhatCannotBeIsRefusedByName) {
  const auto invalid = StatusCode::kInvalidArgument;
  refused(kThree, {.pins = {{3, 0, 0}}}, invalid, "pin 0 names value 3, but there are 3 values");
  refused(kThree, {.pins = {{2, 6, 0}}}, invalid, "no multiple of its alignment 4");
  refused(kThree, {.pins = {{0, 0, 0}, {0, 8, 0}}}, invalid, "value 0 is pinned twice");
  refused(kThree, {.pins = {{0, 0, 1}}}, invalid, "pin 0 lies in arena 1, but there are at most 1");
  refused(kThree, {.pins = {{0, 0, 0}, {1, 9, 0}}}, invalid, "values 0 and 1 are pinned so that");
  refused(kThree, {.pins = {{0, 95, 0}}, .arenaCapBytes = 100}, invalid, "beyond the end");
  refused(kThree, {.pins = {{0, 5, 0}}, .zones = {{0, 6}}}, invalid, "inside a zone");
  refused(kThree, {.gaps = {{0, 0, 2}}}, invalid, "the gap of value 0, commands 0 to 2");
  refused(kThree, {.gaps = {{0, 3, 2}}}, invalid, "commands 3 to 2");
  refused(kThree, {.gaps = {{7, 1, 2}}}, invalid, "gap 0 names value 7");
  refused(kThree, {.sharings = {{1, 1, false}}}, invalid, "value 1 with itself");
  refused(kThree, {.sharings = {{0, 1, true}, {0, 2, true}}}, invalid,
          "values 1 and 2 would share storage through others");
  refused(kThree, {.pins = {{0, 0, 0}, {1, 64, 0}}, .sharings = {{0, 1, true}}}, invalid,
          "values 0 and 1 share storage and are pinned at 0 and 64");
  refused(kThree, {.zones = {{0, 6, 3, 2, 0}}}, invalid, "zone 0 begins at command 3");
  refused(kThree, {.mostArenas = 0}, invalid, "at least one arena");
  PlanRequest request;
  request.deadlineSeconds = -1;
  EXPECT_FALSE(planArena(kThree, request).isOk());
}

TEST(Constraints, AWorkLimitOfOneStillPlans) {
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

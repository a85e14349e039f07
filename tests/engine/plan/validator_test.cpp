// Tests which plans validatePlan accepts, and what its errors name.
#include "engine/plan/plan.h"

#include <gtest/gtest.h>

#include <random>

namespace gantry::plan {
namespace {

Plan planWith(std::vector<uint64_t> offsets, uint64_t height) {
  Plan plan;
  plan.offsets = std::move(offsets);
  plan.heightBytes = height;
  return plan;
}

void expectRefused(const std::vector<Value> &values, const Plan &plan, const char *words) {
  const Status status = validatePlan(values, plan);
  ASSERT_FALSE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
}

TEST(Validator, AcceptsValuesThatTouchWithoutOverlap) {
  const std::vector<Value> values = {{64, 64, 0, 3}, {10, 1, 3, 5}, {64, 64, 4, 5}};
  EXPECT_TRUE(validatePlan(values, planWith({0, 64, 0}, 74)).isOk());
}

TEST(Validator, NamesTheValuesThatOverlap) {
  const std::vector<Value> values = {{64, 1, 0, 3}, {10, 1, 5, 5}, {64, 1, 3, 5}};
  expectRefused(values, planWith({0, 0, 63}, 127),
                "values 0 (bytes 0 to 63) and 2 (bytes 63 to 126)");
  expectRefused({{10, 1, 0, 0}, {10, 1, 0, 0}}, planWith({0, 0}, 10), "values 0");
  // One value lies inside the other.
  expectRefused({{100, 1, 0, 0}, {10, 1, 0, 0}}, planWith({0, 50}, 100), "overlap");
  expectRefused({{10, 1, 0, 0}, {100, 1, 0, 0}}, planWith({50, 0}, 100), "overlap");
}

TEST(Validator, NamesMisalignedValuesAndValuesAboveTheHeight) {
  expectRefused({{64, 64, 0, 0}}, planWith({32}, 128), "which is no multiple of its alignment 64");
  expectRefused({{64, 1, 0, 0}}, planWith({1}, 64), "outside of the plan's height 64");
  expectRefused({{64, 1, 0, 0}}, planWith({UINT64_MAX - 5}, 64), "outside of the plan's height");
  expectRefused({{64, 1, 0, 0}}, planWith({}, 64), "0 offsets for 1 values");
}

TEST(Validator, EmptyValuesMayLieAnywhere) {
  EXPECT_TRUE(validatePlan({{64, 1, 0, 5}, {0, 1, 2, 3}}, planWith({0, 32}, 64)).isOk());
  EXPECT_TRUE(validatePlan({{64, 1, 0, 5}, {0, 1, 2, 3}}, planWith({0, 128}, 64)).isOk());
}

/// Compares the validator with a comparison of all pairs of values, on random plans.
TEST(Validator, AgreesWithAllPairs) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Value> values(random() % 7);
    Plan plan = planWith({}, 64);
    for (Value &value : values) {
      value.sizeBytes = random() % 9;
      value.firstUse = static_cast<uint32_t>(random() % 8);
      value.lastUse = value.firstUse + static_cast<uint32_t>(random() % 3);
      plan.offsets.push_back(random() % 50);
    }
    bool overlap = false;
    for (size_t a = 0; a < values.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        overlap |= values[a].sizeBytes != 0 && values[b].sizeBytes != 0 &&
                   values[a].firstUse <= values[b].lastUse &&
                   values[b].firstUse <= values[a].lastUse &&
                   plan.offsets[a] < plan.offsets[b] + values[b].sizeBytes &&
                   plan.offsets[b] < plan.offsets[a] + values[a].sizeBytes;
    ASSERT_EQ(validatePlan(values, plan).isOk(), !overlap)
        << "round " << round << ", seed " << seed;
    refused += overlap;
  }
  EXPECT_GT(refused, 100);
}

} // namespace
} // namespace gantry::plan

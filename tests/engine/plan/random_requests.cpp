#include "tests/engine/plan/random_requests.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace gantry::plan {

std::vector<Value> randomValues(std::mt19937_64 &random, const RandomShape &shape) {
  std::vector<Value> values(shape.count);
  for (Value &value : values) {
    value.sizeBytes = random() % (shape.maxSizeBytes + 1);
    value.alignment = uint64_t{1} << (random() % (shape.maxAlignmentBits + 1));
    value.firstUse = static_cast<uint32_t>(random() % shape.commands);
    value.lastUse = std::min(shape.commands - 1,
                             value.firstUse + static_cast<uint32_t>(random() % shape.maxCommands));
  }
  return values;
}

std::vector<Pin> randomPins(std::mt19937_64 &random, const std::vector<Value> &values) {
  PlanRequest request;
  request.workLimit = 20'000;
  const Result<Plan> plan = planArena(values, request);
  EXPECT_TRUE(plan.isOk()) << plan.status().message();
  std::vector<Pin> pins;
  for (uint32_t i = 0; plan.isOk() && i < values.size(); ++i)
    if (random() % 3 == 0)
      pins.push_back({i, plan->offsets[i]});
  return pins;
}

} // namespace gantry::plan

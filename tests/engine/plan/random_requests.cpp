#include "tests/engine/plan/random_requests.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace gantry::plan {

std::vector<Value> randomValues(std::mt19937_64 &random, const RandomShape &shape) {
  std::vector<Value> values(shape.count);
  for (Value &value : values) {
    value.sizeBytes = random() % (shape.largest + 1);
    value.alignment = uint64_t{1} << (random() % (shape.mostAlignment + 1));
    value.firstUse = static_cast<uint32_t>(random() % shape.commands);
    value.lastUse = std::min(shape.commands - 1,
                             value.firstUse + static_cast<uint32_t>(random() % shape.longest));
  }
  return values;
}

Constraints randomConstraints(std::mt19937_64 &random, const std::vector<Value> &values,
                              const RandomConstraints &which) {
  Constraints constraints;
  const auto count = static_cast<uint32_t>(values.size());
  const auto any = [&] { return static_cast<uint32_t>(random() % count); };
  if (count == 0)
    return constraints;
  if (which.gaps)
    for (uint32_t i = 0; i < count; ++i)
      if (const uint32_t inside = values[i].lastUse - values[i].firstUse;
          inside >= 2 && random() % 2 == 0) {
        const auto first = values[i].firstUse + 1 + static_cast<uint32_t>(random() % (inside - 1));
        const auto last = first + static_cast<uint32_t>(random() % (values[i].lastUse - first));
        constraints.gaps.push_back({i, first, last});
      }
  if (which.sharings)
    for (uint32_t k = 0; k < count; ++k)
      if (const uint32_t a = any(), b = any(); a != b)
        constraints.sharings.push_back({a, b, false});
  if (which.required && count >= 2)
    if (const uint32_t a = any(), b = any(); a != b)
      constraints.sharings.push_back({a, b, true});
  if (which.zones)
    for (uint32_t k = 0; k < 1 + random() % 2; ++k) {
      const auto begin = static_cast<uint32_t>(random() % 8);
      constraints.zones.push_back(
          {random() % 24, random() % 8, begin, begin + static_cast<uint32_t>(random() % 6), 0});
    }
  if (which.pins) {
    PlanRequest request;
    request.constraints = constraints;
    request.workLimit = 20'000;
    const Result<Plan> plan = planArena(values, request);
    EXPECT_TRUE(plan.isOk()) << plan.status().message();
    for (uint32_t i = 0; plan.isOk() && i < count; ++i)
      if (random() % 3 == 0)
        constraints.pins.push_back({i, plan->offsets[i], 0});
  }
  return constraints;
}

} // namespace gantry::plan

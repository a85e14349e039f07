// Random requests of many shapes under random constraints: every plan is valid, none is below its
// bounds, and the same request gives the same plan. GANTRY_FUZZ_CASES says how many (10^6 take some
// minutes); GANTRY_FUZZ_SEED repeats a run.
#include "tests/engine/plan/random_requests.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace gantry::plan {
namespace {

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Planner, FuzzedRequestsAreValid) {
  const uint64_t cases = numberFrom("GANTRY_FUZZ_CASES", 3000);
  const uint64_t seed = numberFrom("GANTRY_FUZZ_SEED", std::random_device{}());
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  uint64_t atBound = 0;
  uint64_t impossible = 0;
  for (uint64_t number = 0; number < cases; ++number) {
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << seed);
    const auto below = [&](uint64_t most) { return static_cast<uint32_t>(1 + random() % most); };
    const RandomShape shape = {.count = below(number % 50 == 0 ? 60 : 14),
                               .commands = below(24),
                               .largest = uint64_t{1} << (random() % 40),
                               .longest = below(12),
                               .mostAlignment = random() % 2 == 0 ? 0 : below(9)};
    const std::vector<Value> values = randomValues(random, shape);
    const auto coin = [&] { return random() % 4 == 0; };
    PlanRequest request;
    request.constraints = randomConstraints(
        random, values, {.pins = coin(), .gaps = coin(), .sharings = coin(), .zones = coin()});
    if (coin() && request.constraints.pins.empty()) {
      request.constraints.arenaCapBytes = uint64_t{1} << (random() % 42);
      request.constraints.mostArenas = below(4);
    }
    request.workLimit = 3000;
    const Result<Plan> plan = planArena(values, request);
    if (!plan.isOk()) {
      ASSERT_EQ(plan.status().code(), StatusCode::kOutOfMemory) << plan.status().message();
      ASSERT_NE(request.constraints.arenaCapBytes, UINT64_MAX);
      ++impossible;
      continue;
    }
    const Status valid = validatePlan(values, *plan, request.constraints);
    ASSERT_TRUE(valid.isOk()) << valid.message();
    ASSERT_GE(plan->provenBoundBytes, plan->lowerBoundBytes);
    ASSERT_GE(plan->heightBytes, plan->provenBoundBytes);
    const Result<Plan> again = planArena(values, request);
    ASSERT_EQ(again->offsets, plan->offsets);
    atBound += plan->heightBytes == plan->provenBoundBytes ? 1 : 0;
  }
  std::printf("%llu cases, %llu proven optimal, %llu beyond their arenas\n",
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(atBound),
              static_cast<unsigned long long>(impossible));
}

} // namespace
} // namespace gantry::plan

// Plans random requests of many shapes. Every plan must be valid and not below its bounds, and
// equal requests must give equal plans. GANTRY_FUZZ_CASES sets the number of requests (10^6 take
// some minutes). GANTRY_FUZZ_SEED sets the seed, to repeat a run.
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
  for (uint64_t number = 0; number < cases; ++number) {
    SCOPED_TRACE(testing::Message() << "case " << number << " of seed " << seed);
    const auto upTo = [&](uint64_t max) { return static_cast<uint32_t>(1 + random() % max); };
    const RandomShape shape = {.count = upTo(number % 50 == 0 ? 60 : 14),
                               .commands = upTo(24),
                               .maxSizeBytes = uint64_t{1} << (random() % 40),
                               .maxCommands = upTo(12),
                               .maxAlignmentBits = random() % 2 == 0 ? 0 : upTo(9)};
    const std::vector<Value> values = randomValues(random, shape);
    PlanRequest request;
    request.workLimit = 3000;
    const Result<Plan> plan = planArena(values, request);
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    const Status valid = validatePlan(values, *plan);
    ASSERT_TRUE(valid.isOk()) << valid.message();
    ASSERT_GE(plan->provenBoundBytes, plan->lowerBoundBytes);
    ASSERT_GE(plan->heightBytes, plan->provenBoundBytes);
    const Result<Plan> again = planArena(values, request);
    ASSERT_EQ(again->offsets, plan->offsets);
    atBound += plan->heightBytes == plan->provenBoundBytes ? 1 : 0;
  }
  std::printf("%llu cases, %llu proven optimal\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(atBound));
}

} // namespace
} // namespace gantry::plan

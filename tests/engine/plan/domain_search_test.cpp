// DomainSearch: it finds what was taken apart, and proves only what is true.
#include "engine/plan/domain_search.h"
#include "engine/plan/plan.h"
#include "engine/plan/problem_builder.h"
#include "tests/engine/plan/brute_force.h"
#include "tests/engine/plan/random_requests.h"

#include <gtest/gtest.h>
#include <random>

namespace gantry::plan {
namespace {

/// Some values, and what the search says of them at a capacity.
struct Question {
  std::vector<Value> values;
  Constraints constraints;

  /// `fault` is empty where the plan that was found is valid.
  SearchResult ask(uint64_t capacity, std::string &fault) const {
    const Result<BuiltProblem> built = buildProblem(values, constraints, {});
    EXPECT_TRUE(built.isOk()) << built.status().message();
    EXPECT_TRUE(DomainSearch::canSearch(built->problem, capacity));
    WorkMeter meter(100'000'000);
    std::vector<uint64_t> offsets;
    const SearchResult result = DomainSearch(built->problem, capacity).run(meter, offsets);
    if (result != SearchResult::kFound)
      return result;
    Plan plan;
    plan.heightBytes = capacity;
    for (uint32_t i = 0; i < values.size(); ++i)
      plan.offsets.push_back(built->itemOfValue[i] == kNoItem ? 0 : offsets[built->itemOfValue[i]]);
    for (const Pin &pin : constraints.pins)
      if (values[pin.value].sizeBytes == 0)
        plan.offsets[pin.value] = pin.offset;
    fault = validatePlan(values, plan, constraints).message();
    return result;
  }
};

/// Half of a plan's values are fixed where it has them.
TEST(DomainSearch, FindsWhatPinsLeaveOfAPlan) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " of seed " << seed);
    Question question;
    question.values =
        randomValues(random, {.count = 30, .commands = 20, .largest = 60, .longest = 8});
    const Result<Plan> known = planArena(question.values);
    ASSERT_TRUE(known.isOk()) << known.status().message();
    for (uint32_t i = 0; i < question.values.size(); ++i)
      if (random() % 2 == 0)
        question.constraints.pins.push_back({i, known->offsets[i], 0});
    std::string fault;
    ASSERT_EQ(question.ask(known->heightBytes, fault), SearchResult::kFound);
    ASSERT_EQ(fault, "");
  }
}

/// At every capacity: found or refuted as brute force says.
TEST(DomainSearch, AgreesWithBruteForce) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " of seed " << seed);
    Question question;
    question.values = randomValues(random, {.count = 7,
                                            .commands = 8,
                                            .largest = 9,
                                            .longest = 5,
                                            .mostAlignment = static_cast<uint32_t>(random() % 3)});
    question.constraints = randomConstraints(
        random, question.values, {.pins = random() % 2 == 0, .zones = random() % 2 == 0});
    const std::optional<uint64_t> least = leastHeight(question.values, question.constraints);
    ASSERT_TRUE(least.has_value());
    std::string fault;
    ASSERT_EQ(question.ask(*least, fault), SearchResult::kFound);
    ASSERT_EQ(fault, "");
    if (*least == 0)
      continue;
    ASSERT_EQ(question.ask(*least - 1, fault), SearchResult::kInfeasible);
  }
}

} // namespace
} // namespace gantry::plan

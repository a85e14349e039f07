// ValleyPockets: what fixed items leave of a step is refused only where it cannot be filled.
#include "engine/plan/valley_pockets.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace gantry::plan {
namespace {

/// One step, with the fixed items first.
struct OneStep {
  Problem problem;
  std::vector<ValleyPockets<int32_t>::Candidate> candidates;

  void add(uint64_t size, uint64_t fixedOffset = kFreeOffset) {
    if (fixedOffset == kFreeOffset)
      candidates.push_back({problem.count(), 0, static_cast<int32_t>(size)});
    problem.begin.push_back(0);
    problem.end.push_back(1);
    problem.size.push_back(size);
    problem.fixedOffset.push_back(fixedOffset);
    problem.stepCount = 1;
  }
  bool canFill(int32_t capacity) const {
    const ItemTable<int32_t> table(problem, 1);
    return ValleyPockets<int32_t>(table).canFill(0, 0, capacity, candidates);
  }
};

TEST(ValleyPockets, CountWhatMustStayEmpty) {
  OneStep step;
  step.add(2, 4); // pockets of 4 and 4 below 10
  step.add(3);
  step.add(3);
  EXPECT_TRUE(step.canFill(10));
  EXPECT_FALSE(step.canFill(8)); // 2 are left above the fixed one
  step.add(2);
  EXPECT_FALSE(step.canFill(10)); // no byte may be lost, but no sum is 4
  EXPECT_TRUE(step.canFill(11));  // 3, and 3 + 2 above
  step.candidates.pop_back();
  step.add(1);
  step.add(1);
  EXPECT_TRUE(step.canFill(10)); // 3 + 1, twice
}

/// Fills pockets with pieces of themselves, one after the other.
TEST(ValleyPockets, NeverRefuseWhatWasTakenApart) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << " of seed " << seed);
    OneStep step;
    std::vector<uint64_t> free;
    uint64_t top = 0;
    while (step.problem.count() + free.size() < 14) {
      const uint64_t size = 1 + random() % 90;
      if (random() % 4 == 0)
        step.add(size, top);
      else if (random() % 8 != 0) // or else it stays empty
        free.push_back(size);
      top += size;
    }
    for (const uint64_t size : free)
      step.add(size);
    std::shuffle(step.candidates.begin(), step.candidates.end(), random);
    ASSERT_TRUE(step.canFill(static_cast<int32_t>(top)));
  }
}

} // namespace
} // namespace gantry::plan

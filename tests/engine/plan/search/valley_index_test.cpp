// Compares the answers of ValleyIndex, which finds the item of the highest rank whose lifetime lies
// within a span of time, with a linear scan.
#include "engine/plan/search/valley_index.h"
#include "engine/plan/random.h"
#include "tests/support/plan_instances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace gantry::plan {
namespace {

using test::Interval;
using test::randomRanks;

TEST(ValleyIndex, AgreesWithALinearScan) {
  Random random(11);
  for (uint32_t round = 0; round < 40; ++round) {
    const uint32_t steps = 1 + random.below(30);
    const uint32_t count = 1 + random.below(200);
    const std::vector<Interval> intervals = test::randomIntervals(count, steps, 1, round);
    std::vector<uint32_t> begin;
    std::vector<uint32_t> end;
    for (const Interval &interval : intervals) {
      begin.push_back(interval.begin);
      end.push_back(interval.end);
    }
    const std::vector<uint32_t> ranks = randomRanks(count, round);
    std::vector<bool> removed(count, false);
    ValleyIndex index(begin, end, steps);
    index.reset(ranks);
    for (uint32_t query = 0; query < 100; ++query) {
      const uint32_t first = random.below(steps);
      const uint32_t last = first + random.below(steps - first);
      const uint32_t lastEnd = 1 + random.below(steps);
      uint32_t best = ValleyIndex::kNone;
      uint32_t exact = ValleyIndex::kNone;
      for (uint32_t item = 0; item < count; ++item) {
        if (removed[item])
          continue;
        if (begin[item] >= first && begin[item] <= last && end[item] <= lastEnd &&
            (best == ValleyIndex::kNone || ranks[item] > ranks[best]))
          best = item;
        if (begin[item] == first && end[item] == lastEnd &&
            (exact == ValleyIndex::kNone || ranks[item] > ranks[exact]))
          exact = item;
      }
      ASSERT_EQ(index.best(first, last, lastEnd), best) << "round " << round;
      ASSERT_EQ(index.bestExactly(first, lastEnd), exact) << "round " << round;
      if (best != ValleyIndex::kNone) {
        index.remove(best);
        removed[best] = true;
      }
    }
  }
}

} // namespace
} // namespace gantry::plan

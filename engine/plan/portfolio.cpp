#include "engine/plan/portfolio.h"
#include "engine/plan/item_table.h"

#include <algorithm>
#include <bit>

namespace gantry::plan {

namespace {

/// 1 1 2 1 1 2 4 …, from index 1.
uint64_t luby(uint64_t index) {
  for (;;) {
    const uint64_t power = std::bit_width(index + 1) - 1;
    if (index + 1 == uint64_t{1} << power)
      return uint64_t{1} << (power - 1);
    index -= (uint64_t{1} << power) - 1;
  }
}

constexpr StepRule kStepRules[] = {StepRule::kNoGapLow, StepRule::kFewestTight,
                                   StepRule::kNoGapLowestFirst, StepRule::kNoGapWide,
                                   StepRule::kFewestLow};
constexpr ItemRule kItemRules[] = {
    ItemRule::kSize,         ItemRule::kDurationAreaFlush, ItemRule::kArea,    ItemRule::kSizeFlush,
    ItemRule::kDurationArea, ItemRule::kAreaFlush,         ItemRule::kDuration};

/// Each pair comes once before any comes again, since 5 and 7 have no common factor.
SearchStyle styleOf(uint32_t slice) {
  constexpr uint32_t kPairs = std::size(kStepRules) * std::size(kItemRules);
  static_assert(std::size(kStepRules) == 5 && std::size(kItemRules) == 7);
  SearchStyle style;
  style.step = kStepRules[slice % std::size(kStepRules)];
  style.item = kItemRules[slice % std::size(kItemRules)];
  style.seed = slice < kPairs ? 0 : slice;
  return style;
}

/// Of the shortest slice, per item. A search that never turns back needs one node per item.
constexpr uint64_t kNodesPerItem = 3;

} // namespace

SearchResult Portfolio::fit(uint64_t capacity, uint32_t slices, WorkMeter &meter,
                            std::vector<uint64_t> &offsets) {
  for (uint32_t k = 0; k < slices && !meter.exhausted(); ++k, ++nextSlice_) {
    const uint64_t nodes = luby(nextSlice_ + 1) * kNodesPerItem * (problem_.count() + 8);
    const SearchResult result = search_.run(capacity, styleOf(nextSlice_), nodes, meter, offsets);
    if (result != SearchResult::kStopped)
      return result;
  }
  return SearchResult::kStopped;
}

Optimum minimise(const Problem &problem, Placement start, uint64_t target, WorkMeter &meter) {
  Optimum optimum;
  optimum.best = std::move(start);
  optimum.bound = problem.lowerBound;
  if (optimum.best.height <= std::max(target, optimum.bound) || !ValleySearch::canSearch(problem))
    return optimum;
  const uint64_t unit = unitOf(problem);
  Portfolio portfolio(problem);
  std::vector<uint64_t> offsets;
  const auto attempt = [&](uint64_t capacity, uint32_t slices) {
    const SearchResult result = portfolio.fit(capacity, slices, meter, offsets);
    if (result == SearchResult::kFound) {
      optimum.best.offset = offsets;
      optimum.best.height = heightOf(problem, offsets);
    } else if (result == SearchResult::kInfeasible) {
      // The heights of placements are whole units.
      optimum.bound = std::max(optimum.bound, (capacity / unit + 1) * unit);
    }
    return result;
  };
  // Each round tries the bound, then halves the distance to it from the best, and spends twice as
  // much as the one before.
  for (uint32_t slices = 8; !meter.exhausted(); slices *= 2) {
    const uint64_t goal = std::max(target, optimum.bound);
    if (optimum.best.height <= goal)
      break;
    if (attempt(goal, slices) != SearchResult::kStopped)
      continue;
    uint64_t failed = goal;
    while (!meter.exhausted() && optimum.best.height > failed + unit) {
      const uint64_t middle = failed + (optimum.best.height - failed) / 2 / unit * unit;
      if (attempt(middle, slices) != SearchResult::kFound)
        failed = middle;
    }
  }
  return optimum;
}

} // namespace gantry::plan

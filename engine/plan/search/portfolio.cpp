// Implements Portfolio.
#include "engine/plan/search/portfolio.h"
#include "engine/plan/search/restarts.h"

#include <algorithm>

namespace gantry::plan {

namespace {

constexpr StepRule kStepRules[] = {StepRule::kNoGapLow, StepRule::kFewestTight,
                                   StepRule::kNoGapLowestFirst, StepRule::kNoGapWide,
                                   StepRule::kFewestLow};
constexpr ItemRule kItemRules[] = {
    ItemRule::kSize,         ItemRule::kDurationAreaFlush, ItemRule::kArea,    ItemRule::kSizeFlush,
    ItemRule::kDurationArea, ItemRule::kAreaFlush,         ItemRule::kDuration};

/// Each pair of rules comes once before any pair repeats, because 5 and 7 have no common factor.
SearchStyle styleOf(uint32_t slice) {
  constexpr uint32_t kPairs = std::size(kStepRules) * std::size(kItemRules);
  static_assert(std::size(kStepRules) == 5 && std::size(kItemRules) == 7);
  SearchStyle style;
  style.step = kStepRules[slice % std::size(kStepRules)];
  style.item = kItemRules[slice % std::size(kItemRules)];
  style.seed = slice < kPairs ? 0 : slice;
  return style;
}

/// The length of the shortest slice, in nodes per item. A search that never backtracks needs one
/// node per item.
constexpr uint64_t kNodesPerItem = 3;

} // namespace

SearchResult Portfolio::fit(uint64_t capacityBytes, WorkMeter &meter,
                            std::vector<uint64_t> &offsets) {
  for (; !meter.exhausted(); ++nextSlice_) {
    const uint64_t nodes = lubyLength(nextSlice_ + 1) * kNodesPerItem * (problem_.count() + 8);
    const SearchResult result =
        search_.run(capacityBytes, styleOf(nextSlice_), nodes, meter, offsets);
    if (result != SearchResult::kStopped)
      return result;
  }
  return SearchResult::kStopped;
}

} // namespace gantry::plan

#include "engine/plan/portfolio.h"
#include "engine/plan/item_table.h"
#include "engine/plan/large_neighbourhood.h"
#include "engine/plan/size_rounding.h"

#include <algorithm>
#include <bit>
#include <optional>

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

SearchResult Portfolio::fit(uint64_t capacity, WorkMeter &meter, std::vector<uint64_t> &offsets) {
  for (; !meter.exhausted(); ++nextSlice_) {
    const uint64_t nodes = luby(nextSlice_ + 1) * kNodesPerItem * (problem_.count() + 8);
    const SearchResult result = search_.run(capacity, styleOf(nextSlice_), nodes, meter, offsets);
    if (result != SearchResult::kStopped)
      return result;
  }
  return SearchResult::kStopped;
}

namespace {

/// Each differs much from those before it.
constexpr RoundingStyle kRoundings[] = {
    {},
    {.toSecond = true, .byArea = true},
    {.toLargest = true},
    {.toSecond = true, .toLargest = true, .byArea = true},
    {.toSecond = true, .toLargest = true, .byArea = true, .eighths = 2},
    {.toSecond = true, .byArea = true, .eighths = 2},
    {.toLargest = true, .byArea = true, .eighths = 2},
};

/// One problem on its way to its optimum.
class Descent {
public:
  Descent(const Problem &problem, Placement start, uint64_t target)
      : problem_(problem), target_(target), unit_(unitOf(problem)), boxesOnly_(isPlain(problem)),
        neighbourhoods_(problem) {
    optimum_.best = std::move(start);
    optimum_.bound = problem.lowerBound;
    if (!atGoal() && ValleySearch::canSearch(problem)) {
      portfolio_.emplace(problem);
      mixed_ = hasMixedAlignments(problem);
    }
  }

  Optimum run(WorkMeter &meter) {
    const uint64_t items = problem_.count();
    const uint64_t least = std::max(kLeastRound, kRoundPerPair * items * items);
    for (uint64_t units = least; !atGoal() && !meter.exhausted(); units *= 2) {
      if (boxesOnly_)
        improve(mixed_ ? 2 * units : units, meter);
      if (portfolio_ && !atGoal())
        searchBelow(units, meter);
      if (!portfolio_ && !boxesOnly_)
        break;
    }
    return std::move(optimum_);
  }

private:
  uint64_t goal() const { return std::max(target_, optimum_.bound); }
  bool atGoal() const { return optimum_.best.height <= goal(); }

  void improve(uint64_t units, WorkMeter &meter) {
    WorkMeter part = meter.part(units);
    optimum_.best = neighbourhoods_.improve(std::move(optimum_.best), goal(), part);
    meter.settle(part);
  }

  /// The goal first, then halfway between what failed and the best, again and again.
  void searchBelow(uint64_t units, WorkMeter &meter) {
    uint64_t failed = goal();
    if (attempt(failed, units, meter) == SearchResult::kFound)
      return;
    failed = std::max(failed, goal());
    while (!meter.exhausted() && optimum_.best.height > failed + unit_) {
      const uint64_t middle = failed + (optimum_.best.height - failed) / 2 / unit_ * unit_;
      if (middle == failed)
        return;
      if (attempt(middle, units / 2, meter) != SearchResult::kFound)
        failed = std::max(middle, goal());
    }
  }

  SearchResult attempt(uint64_t capacity, uint64_t units, WorkMeter &meter) {
    if (mixed_ && attemptRounded(capacity, units, meter))
      return SearchResult::kFound;
    WorkMeter part = meter.part(mixed_ ? units / 8 : units);
    const SearchResult result = portfolio_->fit(capacity, part, offsets_);
    meter.settle(part);
    if (result == SearchResult::kFound) {
      keepFound();
    } else if (result == SearchResult::kInfeasible) {
      // The heights of placements are whole units.
      optimum_.bound = std::max(optimum_.bound, (capacity / unit_ + 1) * unit_);
    }
    return result;
  }

  /// As much work in all. That none is found proves nothing.
  bool attemptRounded(uint64_t capacity, uint64_t units, WorkMeter &meter) {
    for (size_t k = 0; k < std::size(kRoundings); ++k) {
      const std::optional<Problem> rounded = roundedFreely(problem_, kRoundings[k], capacity);
      if (!rounded)
        return false;
      Portfolio portfolio(*rounded, roundedSlices_[k]);
      WorkMeter part = meter.part(units / std::size(kRoundings));
      const SearchResult result = portfolio.fit(capacity, part, offsets_);
      meter.settle(part);
      roundedSlices_[k] = portfolio.nextSlice();
      if (result != SearchResult::kFound)
        continue;
      keepFound();
      return true;
    }
    return false;
  }

  void keepFound() {
    optimum_.best.height = heightOf(problem_, offsets_);
    std::swap(optimum_.best.offset, offsets_);
  }

  /// Of the first round: enough for some of the shortest slices.
  static constexpr uint64_t kLeastRound = 50'000;
  static constexpr uint64_t kRoundPerPair = 8;

  const Problem &problem_;
  uint64_t target_;
  uint64_t unit_;
  bool boxesOnly_;
  LargeNeighbourhoodSearch neighbourhoods_;
  Optimum optimum_;
  std::optional<Portfolio> portfolio_;
  bool mixed_ = false;
  uint32_t roundedSlices_[std::size(kRoundings)] = {};
  std::vector<uint64_t> offsets_;
};

} // namespace

Optimum minimise(const Problem &problem, Placement start, uint64_t target, WorkMeter &meter) {
  return Descent(problem, std::move(start), target).run(meter);
}

} // namespace gantry::plan

#include "engine/plan/descent.h"
#include "engine/plan/coarse_sizes.h"
#include "engine/plan/domain_search.h"
#include "engine/plan/ejection_search.h"
#include "engine/plan/fast_tier.h"
#include "engine/plan/item_table.h"
#include "engine/plan/large_neighbourhood.h"
#include "engine/plan/portfolio.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace gantry::plan {

namespace {

/// Of the first round: enough for some of the shortest slices.
constexpr uint64_t kLeastRound = 50'000;
constexpr uint64_t kRoundPerPair = 8;
/// Of the exact search under constraints where no byte may be lost.
constexpr uint64_t kFavouredShare = 4;
/// Of the ejection search where there is some room.
constexpr uint64_t kEjectionShare = 8;
/// Of the search around pinned values.
constexpr uint64_t kPinnedShare = 16;
/// Of what is left after the first look at the goal, for the sizes rounded to coarser units.
constexpr uint64_t kCoarseDivisor = 2;
/// Between the goal and the best where a height was asked for: for the case that it is out of
/// reach.
constexpr uint64_t kBetweenDivisor = 32;

/// Whether alignments differ, or sizes are no multiples of the one there is.
bool isUneven(const Problem &problem) {
  return !hasWholeSizes(problem) ||
         std::adjacent_find(problem.alignment.begin(), problem.alignment.end(),
                            std::not_equal_to<>()) != problem.alignment.end();
}

/// Whether values lie already, other than in the way.
bool hasPins(const Problem &problem) {
  for (uint32_t i = 0; i + problem.obstacleCount < problem.count(); ++i)
    if (problem.isFixed(i))
      return true;
  return false;
}

/// One problem on its way to its optimum.
class Descent {
public:
  Descent(const Problem &problem, Placement start, uint64_t target)
      : problem_(problem), target_(target), unit_(unitOf(problem)), boxesOnly_(isPlain(problem)),
        constrained_(!boxesOnly_ || isUneven(problem)), neighbourhoods_(problem) {
    optimum_.best = std::move(start);
    optimum_.bound = problem.lowerBound;
    if (atGoal())
      return;
    if (ValleySearch::canSearch(problem))
      portfolio_.emplace(problem);
    ejects_ = EjectionSearch::canSearch(problem);
    if (ejects_)
      workToEject_ = EjectionSearch::workToBegin(problem);
    pinned_ = hasPins(problem);
  }

  Optimum run(WorkMeter &meter) {
    const uint64_t items = problem_.count();
    const uint64_t least = std::max(kLeastRound, kRoundPerPair * items * items);
    for (uint64_t units = least; !atGoal() && !meter.exhausted(); units *= 2) {
      if (boxesOnly_)
        improve(units, meter);
      if ((portfolio_ || ejects_) && !atGoal())
        searchBelow(units, meter);
      if (!portfolio_ && !ejects_ && !boxesOnly_)
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

  /// The same with rounded sizes.
  void searchCoarsely(WorkMeter &meter) {
    WorkMeter part = meter.part((meter.limit() - meter.spent()) / kCoarseDivisor);
    if (const std::optional<CoarseSizes> coarse = coarsen(problem_, part);
        coarse && coarse->capacity < optimum_.best.height) {
      const uint64_t parts = std::max(coarse->parts, coarse->partsWithin(goal()));
      Placement start = placeFast(coarse->rounded, part);
      Descent descent(coarse->rounded, std::move(start), parts);
      descent.isCoarse_ = true;
      const Optimum found = descent.run(part);
      Placement placement = pushDown(problem_, found.best.offset);
      if (placement.height < optimum_.best.height)
        optimum_.best = std::move(placement);
    }
    meter.settle(part);
  }

  /// The goal first, then halfway between what failed and the best, again and again.
  void searchBelow(uint64_t units, WorkMeter &meter) {
    uint64_t failed = goal();
    if (attempt(failed, ejectionAtGoal_, units, meter) == SearchResult::kFound)
      return;
    failed = std::max(failed, goal());
    if (!coarsened_ && !isCoarse_ && portfolio_) {
      coarsened_ = true;
      searchCoarsely(meter);
      if (atGoal())
        return;
    }
    const bool atHeight = target_ > problem_.lowerBound || (pinned_ && target_ > 0);
    const uint64_t share = atHeight ? units / kBetweenDivisor : units / 2;
    while (!meter.exhausted() && optimum_.best.height > failed + unit_) {
      const uint64_t middle = failed + (optimum_.best.height - failed) / 2 / unit_ * unit_;
      if (middle == failed)
        return;
      if (attempt(middle, ejectionBetween_, share, meter) != SearchResult::kFound)
        failed = std::max(middle, goal());
    }
  }

  SearchResult attempt(uint64_t capacity, std::optional<EjectionSearch> &ejection, uint64_t units,
                       WorkMeter &meter) {
    SearchResult result = SearchResult::kStopped;
    const bool isTight = capacity <= optimum_.bound;
    if (pinned_ && isTight && capacity == goal() && DomainSearch::canSearch(problem_, capacity)) {
      if (!domains_ || domainsCapacity_ != capacity)
        domains_.emplace(problem_, capacity);
      domainsCapacity_ = capacity;
      WorkMeter part = meter.part(kPinnedShare * units);
      result = domains_->run(part, offsets_);
      meter.settle(part);
    }
    if (portfolio_ && result == SearchResult::kStopped) {
      WorkMeter part =
          meter.part(isCoarse_ || (isTight && constrained_) ? kFavouredShare * units : units);
      result = portfolio_->fit(capacity, part, offsets_);
      meter.settle(part);
    }
    // The heights of placements are whole units.
    if (result == SearchResult::kInfeasible)
      optimum_.bound = std::max(optimum_.bound, (capacity / unit_ + 1) * unit_);
    if (result == SearchResult::kStopped && ejects_) {
      WorkMeter part = meter.part(isTight ? units : kEjectionShare * units);
      if (!ejection && workToEject_ <= part.limit())
        ejection.emplace(problem_);
      if (ejection && ejection->fit(capacity, part, offsets_))
        result = SearchResult::kFound;
      if (ejection)
        meter.settle(part);
    }
    if (result == SearchResult::kFound) {
      optimum_.best.height = heightOf(problem_, offsets_);
      std::swap(optimum_.best.offset, offsets_);
    }
    return result;
  }

  const Problem &problem_;
  uint64_t target_;
  uint64_t unit_;
  bool boxesOnly_;
  bool constrained_;
  bool pinned_ = false;
  bool isCoarse_ = false;  // of rounded sizes
  bool coarsened_ = false; // tried with rounded sizes
  bool ejects_ = false;
  uint64_t workToEject_ = 0; // before the first try
  LargeNeighbourhoodSearch neighbourhoods_;
  Optimum optimum_;
  std::optional<Portfolio> portfolio_;
  std::optional<DomainSearch> domains_; // for domainsCapacity_
  uint64_t domainsCapacity_ = 0;
  std::optional<EjectionSearch> ejectionAtGoal_; // keeps what it has for the next round
  std::optional<EjectionSearch> ejectionBetween_;
  std::vector<uint64_t> offsets_;
};

} // namespace

Optimum minimise(const Problem &problem, Placement start, uint64_t target, WorkMeter &meter) {
  return Descent(problem, std::move(start), target).run(meter);
}

} // namespace gantry::plan

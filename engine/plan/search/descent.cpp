// Implements minimise().
#include "engine/plan/search/descent.h"
#include "engine/plan/search/coarse_sizes.h"
#include "engine/plan/search/ejection_search.h"
#include "engine/plan/search/fast_tier.h"
#include "engine/plan/search/item_table.h"
#include "engine/plan/search/large_neighbourhood.h"
#include "engine/plan/search/portfolio.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace gantry::plan {

namespace {

/// The work of the first round, in units of the meter: the larger of kMinRound, which allows some
/// short runs of the exact search (portfolio.h), and kRoundPerPair times the square of the number
/// of items.
constexpr uint64_t kMinRound = 50'000;
constexpr uint64_t kRoundPerPair = 8;
/// An attempt tries one height. The exact search gets this many times the attempt's work if the
/// sizes were rounded to a coarser unit, or if the height is the proven bound and the problem is
/// uneven (isUneven()).
constexpr uint64_t kExactFactor = 4;
/// The ejection search (ejection_search.h) gets this many times the attempt's work if the height is
/// above the proven bound, because it is the stronger search there.
constexpr uint64_t kEjectionFactor = 8;
/// The search in a coarser unit comes first and gets 1 / kCoarseDivisor of the work.
constexpr uint64_t kCoarseDivisor = 2;
/// An attempt at the goal gets the work of the round. An attempt at a height between the goal and
/// the best placement gets half of it, or 1 / kBetweenDivisor if the caller requested a target
/// height: such a caller gains little from a placement that is still above the target.
constexpr uint64_t kBetweenDivisor = 32;

/// Returns whether alignments differ, or some size is no multiple of its alignment.
bool isUneven(const Problem &problem) {
  return !hasWholeSizes(problem) ||
         std::adjacent_find(problem.alignment.begin(), problem.alignment.end(),
                            std::not_equal_to<>()) != problem.alignment.end();
}

/// Lowers the placement of one problem.
class Descent {
public:
  /// isCoarse: the sizes of the problem were rounded to a coarser unit.
  Descent(const Problem &problem, Placement start, uint64_t targetBytes, bool isCoarse)
      : problem_(problem), targetBytes_(targetBytes), unitBytes_(unitOf(problem)),
        isUneven_(isUneven(problem)), isCoarse_(isCoarse), neighbourhoods_(problem) {
    optimum_.best = std::move(start);
    optimum_.bound = problem.lowerBound;
    if (atGoal())
      return;
    if (ValleySearch::canSearch(problem))
      portfolio_.emplace(problem);
    ejects_ = EjectionSearch::canSearch(problem);
    if (ejects_)
      workToEject_ = EjectionSearch::workToBegin(problem);
  }

  Optimum run(WorkMeter &meter) {
    if (!atGoal() && !isCoarse_ && portfolio_)
      searchCoarsely(meter);
    const uint64_t items = problem_.count();
    const uint64_t first = std::max(kMinRound, kRoundPerPair * items * items);
    for (uint64_t units = first; !atGoal() && !meter.exhausted(); units *= 2) {
      improve(units, meter);
      if ((portfolio_ || ejects_) && !atGoal())
        searchBelow(units, meter);
    }
    return std::move(optimum_);
  }

private:
  uint64_t goal() const { return std::max(targetBytes_, optimum_.bound); }
  bool atGoal() const { return optimum_.best.height <= goal(); }

  void improve(uint64_t units, WorkMeter &meter) {
    WorkMeter part = meter.part(units);
    optimum_.best = neighbourhoods_.improve(std::move(optimum_.best), goal(), part);
    meter.settle(part);
  }

  /// Solves the problem in a coarser unit, if coarsen() finds a suitable one.
  void searchCoarsely(WorkMeter &meter) {
    WorkMeter part = meter.part((meter.limit() - meter.spent()) / kCoarseDivisor);
    if (const std::optional<CoarseSizes> coarse = coarsen(problem_, part);
        coarse && coarse->capacityBytes < optimum_.best.height) {
      const uint64_t parts = std::max(coarse->parts, coarse->partsWithin(goal()));
      Placement start = placeFast(coarse->rounded, part);
      Descent descent(coarse->rounded, std::move(start), parts, true);
      Placement placement = pushDown(problem_, descent.run(part).best.offset);
      if (placement.height < optimum_.best.height)
        optimum_.best = std::move(placement);
    }
    meter.settle(part);
  }

  /// Tries the goal first, then repeatedly the height halfway between the last failure and the best
  /// placement.
  void searchBelow(uint64_t units, WorkMeter &meter) {
    uint64_t failed = goal();
    if (attempt(failed, ejectionAtGoal_, units, meter) == SearchResult::kFound)
      return;
    failed = std::max(failed, goal());
    const bool atHeight = targetBytes_ > problem_.lowerBound;
    const uint64_t share = atHeight ? units / kBetweenDivisor : units / 2;
    while (!meter.exhausted() && optimum_.best.height > failed + unitBytes_) {
      const uint64_t middle =
          failed + (optimum_.best.height - failed) / 2 / unitBytes_ * unitBytes_;
      if (middle == failed)
        return;
      if (attempt(middle, ejectionBetween_, share, meter) != SearchResult::kFound)
        failed = std::max(middle, goal());
    }
  }

  SearchResult attempt(uint64_t capacity, std::optional<EjectionSearch> &ejection, uint64_t units,
                       WorkMeter &meter) {
    const bool isTight = capacity <= optimum_.bound;
    SearchResult result = SearchResult::kStopped;
    if (portfolio_) {
      const bool favoured = isCoarse_ || (isTight && isUneven_);
      WorkMeter part = meter.part(favoured ? kExactFactor * units : units);
      result = portfolio_->fit(capacity, part, offsets_);
      meter.settle(part);
    }
    if (result == SearchResult::kInfeasible) // The next possible height is one unit higher.
      optimum_.bound = std::max(optimum_.bound, (capacity / unitBytes_ + 1) * unitBytes_);
    if (result == SearchResult::kStopped && ejects_) {
      WorkMeter part = meter.part(isTight ? units : kEjectionFactor * units);
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
  uint64_t targetBytes_;
  uint64_t unitBytes_;
  bool isUneven_;
  bool isCoarse_;
  bool ejects_ = false;
  uint64_t workToEject_ = 0; // Cost of the constructor of an ejection search.
  LargeNeighbourhoodSearch neighbourhoods_;
  Optimum optimum_;
  std::optional<Portfolio> portfolio_;
  std::optional<EjectionSearch> ejectionAtGoal_; // Continues in the next round.
  std::optional<EjectionSearch> ejectionBetween_;
  std::vector<uint64_t> offsets_;
};

} // namespace

Optimum minimise(const Problem &problem, Placement start, uint64_t targetBytes, WorkMeter &meter) {
  return Descent(problem, std::move(start), targetBytes, false).run(meter);
}

} // namespace gantry::plan

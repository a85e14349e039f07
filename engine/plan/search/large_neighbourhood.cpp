// Implements LargeNeighbourhoodSearch and improvePlacement().
#include "engine/plan/search/large_neighbourhood.h"

#include "engine/plan/search/fast_tier.h"
#include "engine/plan/random.h"
#include "engine/plan/search/series_parallel.h"
#include "engine/plan/search/skyline.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace gantry::plan {

namespace {

constexpr OrderKey kKeys[] = {OrderKey::kDuration, OrderKey::kArea, OrderKey::kEdge};

/// The largest factors by which a weight is multiplied or divided. Tries with the small factor stay
/// near the weights that they started from.
constexpr double kDisturbances[] = {1.4, 2.7};

/// Ranking one item takes as long as this many visits of the skyline's index (ValleyIndex::visits).
constexpr uint64_t kVisitsPerRank = 6;

/// The search on one problem. Keeps the weights, height and excess (excessOf()) of its best
/// placement.
class Neighbourhoods {
public:
  Neighbourhoods(const Problem &problem, uint64_t seed)
      : problem_(problem), skyline_(problem), random_(seed), weight_(problem.count()) {}

  /// Returns the first placement found below `height`, or nothing once the work is spent.
  /// Neighbourhoods start from this search's own best placement, which may be higher than `height`,
  /// and restarts from an order of the items.
  std::optional<Placement> lower(uint64_t height, WorkMeter &meter, uint64_t work) {
    const uint64_t until = meter.spent() + work;
    while (meter.spent() < until && !meter.exhausted()) {
      ++tries_;
      // Restarts help small problems, neighbourhoods help large ones.
      const bool restart = !hasWeights_ || tries_ % 2 == 0;
      std::optional<Placement> placement = restart ? tryRestart(meter) : tryNeighbourhood(meter);
      if (placement && placement->height < height)
        return placement;
    }
    return std::nullopt;
  }

private:
  std::optional<Placement> tryRestart(WorkMeter &meter) {
    const uint64_t round = restarts_++;
    const OrderKey key = kKeys[round / 2 % std::size(kKeys)];
    const double disturbance = kDisturbances[round / 6 % std::size(kDisturbances)];
    std::vector<double> weight = weightsBy(problem_, key);
    for (double &entry : weight)
      disturb(entry, disturbance);
    return attempt(std::move(weight), round % 2 == 0 ? kTouching : kRank, meter);
  }

  std::optional<Placement> tryNeighbourhood(WorkMeter &meter) {
    // The centre is a step in which an item begins whose top is above the lower bound. In one of
    // four tries it is any step.
    const uint32_t centre = random_.below(4) == 0 || highSteps_.empty()
                                ? random_.below(problem_.stepCount)
                                : highSteps_[random_.below(highSteps_.size())];
    const uint32_t radius = std::max(1u, problem_.stepCount >> (1 + random_.below(7)));
    const uint32_t begin = centre - std::min(centre, radius);
    const uint32_t end = centre + std::min(radius, problem_.stepCount - centre);
    std::vector<double> weight = weight_;
    const double disturbance = kDisturbances[random_.below(std::size(kDisturbances))];
    const uint64_t outOf = 1 + random_.below(4);
    for (uint32_t item = 0; item < problem_.count(); ++item)
      if (problem_.begin[item] < end && problem_.end[item] > begin && random_.below(outOf) == 0)
        disturb(weight[item], disturbance);
    return attempt(std::move(weight), prefer_, meter);
  }

  /// Places all items by these weights and keeps the weights unless the result is worse. Returns
  /// the placement if it is lower than all earlier placements of this search.
  std::optional<Placement> attempt(std::vector<double> weight, Skyline::Prefer prefer,
                                   WorkMeter &meter) {
    meter.spend(problem_.count() * kVisitsPerRank);
    // Equal heights are accepted, so that the search can move between placements of equal height.
    const uint64_t limit = hasWeights_ ? height_ + 1 : UINT64_MAX;
    std::optional<Placement> placement =
        skyline_.place(ranksOf(problem_, weight), prefer, limit, meter);
    if (!placement)
      return std::nullopt;
    const bool lower = placement->height < height_;
    const double excess = excessOf(*placement);
    if (hasWeights_ && !lower && excess > excess_)
      return std::nullopt;
    hasWeights_ = true;
    weight_ = std::move(weight);
    prefer_ = prefer;
    excess_ = excess;
    height_ = placement->height;
    if (!lower)
      return std::nullopt;
    return placement;
  }

  void disturb(double &weight, double maxFactor) {
    const double factor = 1 + (maxFactor - 1) * random_.unit();
    if (random_.below(2) == 0)
      weight *= factor;
    else
      weight /= factor;
  }

  /// Returns the sum of (top - lower bound) × duration over all items whose top lies above the
  /// lower bound. The sum ranks placements of equal height. Sets highSteps_ to the begins of these
  /// items.
  double excessOf(const Placement &placement) {
    highSteps_.clear();
    double excess = 0;
    for (uint32_t item = 0; item < problem_.count(); ++item) {
      const uint64_t top = placement.offset[item] + problem_.size[item];
      if (top <= problem_.lowerBound)
        continue;
      excess += static_cast<double>(top - problem_.lowerBound) *
                static_cast<double>(problem_.end[item] - problem_.begin[item]);
      highSteps_.push_back(problem_.begin[item]);
    }
    return excess;
  }

  static constexpr Skyline::Prefer kTouching = Skyline::Prefer::kTouching;
  static constexpr Skyline::Prefer kRank = Skyline::Prefer::kRank;

  const Problem &problem_;
  Skyline skyline_;
  Random random_;
  uint64_t height_ = UINT64_MAX;
  std::vector<double> weight_;
  bool hasWeights_ = false;
  Skyline::Prefer prefer_ = kTouching;
  double excess_ = 0;
  std::vector<uint32_t> highSteps_; // See excessOf(). From the latest try, even a rejected one.
  uint64_t tries_ = 0;
  uint64_t restarts_ = 0;
};

} // namespace

struct LargeNeighbourhoodSearch::State {
  std::optional<SeriesParallel> joined;
  std::optional<Neighbourhoods> boxes;
  std::optional<Neighbourhoods> items;
  uint64_t turn = 0;
};

LargeNeighbourhoodSearch::LargeNeighbourhoodSearch(const Problem &problem) : problem_(problem) {}

LargeNeighbourhoodSearch::~LargeNeighbourhoodSearch() = default;

Placement LargeNeighbourhoodSearch::improve(Placement start, uint64_t targetBytes,
                                            WorkMeter &meter) {
  const uint64_t target = std::max(targetBytes, problem_.lowerBound);
  if (start.height <= target)
    return start;
  if (!state_) {
    state_ = std::make_unique<State>();
    state_->joined = joinToFew(problem_);
    if (state_->joined && state_->joined->reduced().lowerBound < start.height)
      state_->boxes.emplace(state_->joined->reduced(), 1);
    state_->turn = 20'000 + uint64_t{problem_.count()} * 40;
  }

  // The search on boxes and the search on items take turns of equal, growing work. The search on
  // items is needed because an optimal plan may place the parts of a box apart.
  Placement best = std::move(start);
  while (best.height > target && !meter.exhausted()) {
    if (std::optional<Neighbourhoods> &boxes = state_->boxes) {
      if (const std::optional<Placement> placement =
              boxes->lower(best.height, meter, state_->turn)) {
        best = state_->joined->expand(*placement);
        continue;
      }
    }
    std::optional<Neighbourhoods> &items = state_->items;
    if (!items)
      items.emplace(problem_, 2);
    if (std::optional<Placement> placement = items->lower(best.height, meter, state_->turn))
      best = *std::move(placement);
    state_->turn += state_->turn / 2;
  }
  return best;
}

Placement improvePlacement(const Problem &problem, Placement start, uint64_t targetBytes,
                           WorkMeter &meter) {
  return LargeNeighbourhoodSearch(problem).improve(std::move(start), targetBytes, meter);
}

} // namespace gantry::plan

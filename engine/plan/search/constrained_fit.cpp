// Implements placeConstrained().
#include "engine/plan/search/constrained_fit.h"
#include "engine/base/align.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace gantry::plan {

namespace {

enum class Fit {
  kFirst, // The gap with the lowest addresses.
  kBest,  // The smallest gap.
};

/// The addresses of a placed item that is alive together with the item that is being placed.
struct Range {
  uint64_t begin;
  uint64_t end;
};

/// An order sorts the items by a weight, the largest first.
using Weight = double (*)(double size, double duration, bool atPeak);

constexpr Weight kWeights[] = {
    [](double size, double, bool) { return size; },
    // Large and long-lived items are hard to place late.
    [](double size, double duration, bool) { return size * duration; },
    // Long-lived items are placed first, so they form the bottom of the placement.
    [](double, double duration, bool) { return duration; },
    // Items at the peak decide the height, so they are packed first, without gaps.
    [](double size, double, bool atPeak) { return size + (atPeak ? 0x1p80 : 0.0); },
    [](double, double duration, bool atPeak) { return duration + (atPeak ? 0x1p80 : 0.0); },
};

/// Places the items in one order.
class Greedy {
public:
  explicit Greedy(const Problem &problem) : problem_(problem) {}

  /// Returns nothing if the height would reach heightLimit, or if the meter is exhausted.
  std::optional<Placement> place(const std::vector<uint32_t> &order, Fit fit, uint64_t heightLimit,
                                 WorkMeter &meter) {
    Placement placement;
    placement.offset.assign(problem_.count(), 0);
    for (uint32_t i = 0; i < problem_.count(); ++i)
      if (problem_.isFixed(i)) {
        placement.offset[i] = problem_.fixedOffset[i];
        placed_.push_back(i);
      }
    for (const uint32_t item : order) {
      if (problem_.isFixed(item))
        continue;
      if (!meter.spend(placed_.size() / 4 + 1))
        return std::nullopt;
      const uint64_t offset = offsetFor(item, fit, placement);
      if (offset + problem_.size[item] >= heightLimit)
        return std::nullopt;
      placement.offset[item] = offset;
      placed_.push_back(item);
    }
    placement.height = heightOf(problem_, placement.offset);
    return placement;
  }

private:
  uint64_t offsetFor(uint32_t item, Fit fit, const Placement &placement) {
    taken_.clear();
    for (const uint32_t other : placed_)
      if (problem_.begin[item] < problem_.end[other] && problem_.begin[other] < problem_.end[item])
        taken_.push_back({placement.offset[other], placement.offset[other] + problem_.size[other]});
    std::sort(taken_.begin(), taken_.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    uint64_t top = 0; // All addresses below have been examined.
    uint64_t best = 0;
    uint64_t bestGap = UINT64_MAX;
    for (const Range &taken : taken_) {
      const uint64_t offset = roundUp(top, problem_.alignmentOf(item));
      if (offset + problem_.size[item] <= taken.begin && taken.begin - top < bestGap) {
        best = offset;
        bestGap = taken.begin - top;
        if (fit == Fit::kFirst || bestGap == problem_.size[item])
          break;
      }
      top = std::max(top, taken.end);
    }
    return bestGap != UINT64_MAX ? best : roundUp(top, problem_.alignmentOf(item));
  }

  const Problem &problem_;
  std::vector<uint32_t> placed_;
  std::vector<Range> taken_;
};

std::vector<uint32_t> orderBy(const Problem &problem, Weight weight) {
  std::vector<double> weights(problem.count());
  for (uint32_t i = 0; i < problem.count(); ++i)
    weights[i] = weight(static_cast<double>(problem.size[i]), problem.end[i] - problem.begin[i],
                        problem.begin[i] <= problem.peakStep && problem.peakStep < problem.end[i]);
  std::vector<uint32_t> order(problem.count());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (weights[a] != weights[b])
      return weights[a] > weights[b];
    if (problem.size[a] != problem.size[b])
      return problem.size[a] > problem.size[b];
    return a < b;
  });
  return order;
}

} // namespace

Placement placeConstrained(const Problem &problem, WorkMeter &meter) {
  std::optional<Placement> best;
  for (const Weight weight : kWeights) {
    const std::vector<uint32_t> order = orderBy(problem, weight);
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      if (best && (best->height <= problem.lowerBound || meter.exhausted()))
        return std::move(*best);
      WorkMeter noLimit(UINT64_MAX); // For the first try, which must give a placement.
      std::optional<Placement> placement = Greedy(problem).place(
          order, fit, best ? best->height : UINT64_MAX, best ? meter : noLimit);
      if (!best)
        meter.spend(noLimit.spent());
      if (placement)
        best = std::move(placement);
    }
  }
  return std::move(*best);
}

} // namespace gantry::plan

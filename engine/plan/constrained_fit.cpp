#include "engine/plan/constrained_fit.h"
#include "engine/plan/allowed_offset.h"

#include <algorithm>
#include <numeric>

namespace gantry::plan {

namespace {

using Wide = __int128; // offsets and sizes may need all 64 bits, and differences are signed

/// Offsets strictly between these make an item overlap one that is placed.
struct Taken {
  Wide below;
  Wide end;
};

/// What an order sorts by, the largest first.
using Weight = double (*)(double size, double duration, bool atPeak);

constexpr Weight kWeights[] = {
    [](double size, double, bool) { return size; },
    // Area: what is large and long is hard to place late.
    [](double size, double duration, bool) { return size * duration; },
    // The long-lived form the floor.
    [](double, double duration, bool) { return duration; },
    // The peak first: what decides the bound is packed without gaps.
    [](double size, double, bool atPeak) { return size + (atPeak ? 0x1p80 : 0.0); },
    [](double, double duration, bool atPeak) { return duration + (atPeak ? 0x1p80 : 0.0); },
};

class Greedy {
public:
  explicit Greedy(const Problem &problem) : problem_(problem) {}

  std::optional<Placement> place(const std::vector<uint32_t> &order, Fit fit, uint64_t notAbove,
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
      if (offset + problem_.size[item] >= notAbove)
        return std::nullopt;
      placement.offset[item] = offset;
      placed_.push_back(item);
    }
    placement.height = heightOf(problem_, placement.offset);
    return placement;
  }

private:
  /// How far two items reach into each other's offsets where they meet in time.
  bool meet(uint32_t item, uint32_t other, uint64_t &own, uint64_t &others) const {
    if (problem_.begin[item] >= problem_.end[other] || problem_.begin[other] >= problem_.end[item])
      return false;
    own = problem_.size[item];
    others = problem_.size[other];
    if (!problem_.hasSegments(item) && !problem_.hasSegments(other))
      return true;
    own = others = 0;
    const Segment ownBox = {problem_.begin[item], problem_.end[item], problem_.size[item]};
    const Segment othersBox = {problem_.begin[other], problem_.end[other], problem_.size[other]};
    const auto [first, last] = segmentsOf(item, ownBox);
    const auto [otherFirst, otherLast] = segmentsOf(other, othersBox);
    for (const Segment *a = first; a != last; ++a)
      for (const Segment *b = otherFirst; b != otherLast; ++b)
        if (a->begin < b->end && b->begin < a->end) {
          own = std::max(own, a->size);
          others = std::max(others, b->size);
        }
    return own > 0;
  }

  std::pair<const Segment *, const Segment *> segmentsOf(uint32_t item, const Segment &box) const {
    if (!problem_.hasSegments(item))
      return {&box, &box + 1};
    return {problem_.segments.data() + problem_.segmentBegin[item],
            problem_.segments.data() + problem_.segmentBegin[item + 1]};
  }

  uint64_t offsetFor(uint32_t item, Fit fit, const Placement &placement) {
    taken_.clear();
    for (const uint32_t other : placed_) {
      uint64_t own = 0;
      uint64_t others = 0;
      if (!meet(item, other, own, others))
        continue;
      const Wide offset = placement.offset[other];
      taken_.push_back({offset - own, offset + others});
    }
    std::sort(taken_.begin(), taken_.end(), [](const Taken &a, const Taken &b) {
      return a.below != b.below ? a.below < b.below : a.end < b.end;
    });
    Wide cursor = 0; // all offsets below are taken, or were refused
    uint64_t best = 0;
    Wide bestSlack = kNoSlack;
    for (const Taken &taken : taken_) {
      const Wide offset =
          static_cast<Wide>(allowedFrom(problem_, item, static_cast<uint64_t>(cursor)));
      if (taken.below >= offset && taken.below - cursor < bestSlack) {
        best = static_cast<uint64_t>(offset);
        bestSlack = taken.below - cursor;
        if (fit == Fit::kFirst || bestSlack == 0)
          break;
      }
      cursor = std::max(cursor, taken.end);
    }
    return bestSlack != kNoSlack ? best
                                 : allowedFrom(problem_, item, static_cast<uint64_t>(cursor));
  }

  static constexpr Wide kNoSlack = static_cast<Wide>(1) << 100;

  const Problem &problem_;
  std::vector<uint32_t> placed_;
  std::vector<Taken> taken_;
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

std::optional<Placement> placeInOrder(const Problem &problem, const std::vector<uint32_t> &order,
                                      Fit fit, uint64_t notAbove, WorkMeter &meter) {
  return Greedy(problem).place(order, fit, notAbove, meter);
}

Placement placeConstrained(const Problem &problem, WorkMeter &meter) {
  std::optional<Placement> best;
  for (const Weight weight : kWeights) {
    const std::vector<uint32_t> order = orderBy(problem, weight);
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      if (best && (best->height <= problem.lowerBound || meter.exhausted()))
        return std::move(*best);
      WorkMeter noLimit(UINT64_MAX); // the first runs to its end
      std::optional<Placement> placement = placeInOrder(
          problem, order, fit, best ? best->height : UINT64_MAX, best ? meter : noLimit);
      if (!best)
        meter.spend(noLimit.spent());
      if (placement)
        best = std::move(placement);
    }
  }
  return std::move(*best);
}

} // namespace gantry::plan

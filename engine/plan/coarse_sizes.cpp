#include "engine/plan/coarse_sizes.h"
#include "engine/plan/item_table.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace gantry::plan {

namespace {

/// More parts take longer to look at than they are likely to be worth.
constexpr uint64_t kMostParts = 4096;
/// The parts must be this many times coarser than the units that there are.
constexpr uint64_t kLeastGain = 4;
/// A division must cost less than this part of what chance would.
constexpr uint64_t kChanceDivisor = 2;
/// Steps that are looked at before all others.
constexpr size_t kFullest = 8;

uint64_t scaled(uint64_t value, uint64_t by, uint64_t divisor) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(value) * by / divisor);
}

/// What is live in each step.
std::vector<uint64_t> sumsOf(const Problem &problem, const std::vector<uint64_t> &sizes) {
  std::vector<uint64_t> sums(problem.stepCount + size_t{1});
  for (uint32_t i = 0; i < problem.count(); ++i) {
    sums[problem.begin[i]] += sizes[i];
    sums[problem.end[i]] -= sizes[i];
  }
  // The wrap-around of unsigned differences cancels out.
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  return sums;
}

/// A height and into how many parts it is divided; in units.
struct Division {
  uint64_t height = 0;
  uint64_t parts = 0;
  uint64_t partsOf(uint64_t size) const { return scaled(size, parts, height + 1) + 1; }
};

/// Looks for a division that costs little.
class Divider {
public:
  Divider(const Problem &problem, uint64_t unit, WorkMeter &meter)
      : problem_(problem), unit_(unit), bound_(problem.lowerBound / unit), meter_(meter),
        parts_(problem.count()) {}

  /// parts = 0 where there is none.
  Division best() {
    uint32_t live = 0;
    for (uint32_t i = 0; i < problem_.count(); ++i)
      live += isLive(i, problem_.peakStep) ? 1 : 0;
    // What a division costs: the parts that its height is above the bound; here times the bound.
    uint64_t cost = live * bound_ / (2 * kChanceDivisor);
    Division best;
    const uint64_t most = std::min(kMostParts, bound_ / kLeastGain);
    for (uint64_t parts = 1; parts <= most && cost > 0 && !meter_.exhausted(); ++parts) {
      uint64_t above = cost / parts; // the least height that fits, and none that costs as much
      if (above == 0 || !fits({bound_ + above - 1, parts}))
        continue;
      --above;
      for (uint64_t below = 0; below < above;) {
        const uint64_t middle = below + (above - below) / 2;
        if (fits({bound_ + middle, parts}))
          above = middle;
        else
          below = middle + 1;
      }
      best = {bound_ + above, parts};
      cost = above * parts;
    }
    return best;
  }

private:
  bool isLive(uint32_t item, uint32_t step) const {
    return problem_.begin[item] <= step && step < problem_.end[item];
  }

  /// Whether no moment needs more parts than there are.
  bool fits(Division division) {
    for (size_t k = 0; k < fullest_.size(); ++k) {
      uint64_t sum = 0;
      for (const uint64_t size : fullest_[k])
        sum += division.partsOf(size);
      meter_.spend(fullest_[k].size());
      if (sum > division.parts) {
        std::swap(fullest_[k], fullest_.front());
        return false;
      }
    }
    meter_.spend(problem_.count() + problem_.stepCount);
    for (uint32_t i = 0; i < problem_.count(); ++i)
      parts_[i] = division.partsOf(problem_.size[i] / unit_);
    const std::vector<uint64_t> sums = sumsOf(problem_, parts_);
    const auto most = std::max_element(sums.begin(), sums.end());
    if (*most <= division.parts)
      return true;
    remember(static_cast<uint32_t>(most - sums.begin()));
    return false;
  }

  void remember(uint32_t step) {
    if (fullest_.size() == kFullest)
      fullest_.pop_back();
    fullest_.emplace(fullest_.begin());
    for (uint32_t i = 0; i < problem_.count(); ++i)
      if (isLive(i, step))
        fullest_.front().push_back(problem_.size[i] / unit_);
  }

  const Problem &problem_;
  uint64_t unit_;
  uint64_t bound_;
  WorkMeter &meter_;
  std::vector<uint64_t> parts_;
  std::vector<std::vector<uint64_t>> fullest_; // sizes that are live in steps which did not fit
};

} // namespace

std::optional<CoarseSizes> coarsen(const Problem &problem, WorkMeter &meter) {
  const std::vector<uint64_t> &alignment = problem.alignment;
  if (!isPlain(problem) || problem.regionSize > 0 || !hasWholeSizes(problem) ||
      std::adjacent_find(alignment.begin(), alignment.end(), std::not_equal_to<>()) !=
          alignment.end())
    return std::nullopt;
  const uint64_t unit = unitOf(problem);
  const Division division = Divider(problem, unit, meter).best();
  if (division.parts == 0)
    return std::nullopt;
  CoarseSizes coarse;
  coarse.unit = unit;
  coarse.parts = division.parts;
  coarse.capacity = division.height * unit;
  Problem &rounded = coarse.rounded;
  rounded.begin = problem.begin;
  rounded.end = problem.end;
  rounded.stepCount = problem.stepCount;
  for (const uint64_t size : problem.size)
    rounded.size.push_back(division.partsOf(size / unit));
  const std::vector<uint64_t> sums = sumsOf(problem, rounded.size);
  const auto most = std::max_element(sums.begin(), sums.end());
  rounded.lowerBound = *most;
  rounded.peakStep = static_cast<uint32_t>(most - sums.begin());
  return coarse;
}

uint64_t CoarseSizes::partsWithin(uint64_t bytes) const {
  return scaled(bytes / unit + 1, parts, capacity / unit + 1);
}

Placement pushDown(const Problem &problem, std::vector<uint64_t> offsets) {
  std::vector<uint32_t> order(problem.count());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(offsets[a], a) < std::pair(offsets[b], b);
  });
  std::vector<uint64_t> floors(problem.stepCount);
  for (const uint32_t item : order) {
    const auto begin = floors.begin() + problem.begin[item];
    const auto end = floors.begin() + problem.end[item];
    offsets[item] = *std::max_element(begin, end);
    std::fill(begin, end, offsets[item] + problem.size[item]);
  }
  const uint64_t height = heightOf(problem, offsets);
  return {std::move(offsets), height};
}

} // namespace gantry::plan

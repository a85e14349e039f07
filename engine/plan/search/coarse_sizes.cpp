// Implements coarsen(), pushDown() and CoarseSizes.
#include "engine/plan/search/coarse_sizes.h"
#include "engine/plan/search/item_table.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace gantry::plan {

namespace {

/// Divisions into more parts are not tried: examining them would take longer than the search in
/// the coarser unit is likely to save.
constexpr uint64_t kMaxParts = 4096;
/// A part must be at least this many units.
constexpr uint64_t kMinUnitsPerPart = 4;
/// A division must cost less than 1 / kRandomDivisor of the expected cost for random sizes.
constexpr uint64_t kRandomDivisor = 2;
/// The number of steps that are remembered because they did not fit into an earlier division. The
/// next division is checked on these steps first.
constexpr size_t kRememberedSteps = 8;

uint64_t scaled(uint64_t value, uint64_t by, uint64_t divisor) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(value) * by / divisor);
}

struct Division {
  uint64_t height = 0; // In units.
  uint64_t parts = 0;  // Number of parts into which the height is divided.
  uint64_t partsOf(uint64_t size) const { return scaled(size, parts, height + 1) + 1; }
};

/// Searches for the division that costs the fewest parts.
class Divider {
public:
  Divider(const Problem &problem, uint64_t unitBytes, WorkMeter &meter)
      : problem_(problem), rounded_(problem), unitBytes_(unitBytes),
        bound_(problem.lowerBound / unitBytes), meter_(meter) {}

  /// Returns a division with parts = 0 where none is good enough.
  Division best() {
    uint32_t live = 0;
    for (uint32_t i = 0; i < problem_.count(); ++i)
      live += isLive(i, problem_.peakStep) ? 1 : 0;
    // A cost is the height that the division loses, as a number of parts, times the bound to make
    // it an integer: about (height - bound) × parts. Random sizes would lose half a part per live
    // item, which is live × bound / 2.
    uint64_t cost = live * bound_ / (2 * kRandomDivisor);
    Division best;
    const uint64_t maxParts = std::min(kMaxParts, bound_ / kMinUnitsPerPart);
    for (uint64_t parts = 1; parts <= maxParts && cost > 0 && !meter_.exhausted(); ++parts) {
      // A binary search finds the smallest height that fits and costs less.
      uint64_t above = cost / parts;
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

  /// Returns whether every step fits into the division's parts.
  bool fits(Division division) {
    for (size_t k = 0; k < tooFull_.size(); ++k) {
      uint64_t sum = 0;
      for (const uint64_t size : tooFull_[k])
        sum += division.partsOf(size);
      meter_.spend(tooFull_[k].size());
      if (sum > division.parts) {
        std::swap(tooFull_[k], tooFull_.front());
        return false;
      }
    }
    meter_.spend(problem_.count() + problem_.stepCount);
    for (uint32_t i = 0; i < problem_.count(); ++i)
      rounded_.size[i] = division.partsOf(problem_.size[i] / unitBytes_);
    findLowerBound(rounded_);
    if (rounded_.lowerBound <= division.parts)
      return true;
    remember(rounded_.peakStep);
    return false;
  }

  void remember(uint32_t step) {
    if (tooFull_.size() == kRememberedSteps)
      tooFull_.pop_back();
    tooFull_.emplace(tooFull_.begin());
    for (uint32_t i = 0; i < problem_.count(); ++i)
      if (isLive(i, step))
        tooFull_.front().push_back(problem_.size[i] / unitBytes_);
  }

  const Problem &problem_;
  Problem rounded_;
  uint64_t unitBytes_;
  uint64_t bound_; // In units.
  WorkMeter &meter_;
  std::vector<std::vector<uint64_t>> tooFull_; // Per remembered step, its live sizes in units.
};

} // namespace

std::optional<CoarseSizes> coarsen(const Problem &problem, WorkMeter &meter) {
  const std::vector<uint64_t> &alignment = problem.alignment;
  if (!hasWholeSizes(problem) || std::adjacent_find(alignment.begin(), alignment.end(),
                                                    std::not_equal_to<>()) != alignment.end())
    return std::nullopt;
  const uint64_t unitBytes = unitOf(problem);
  const Division division = Divider(problem, unitBytes, meter).best();
  if (division.parts == 0)
    return std::nullopt;
  CoarseSizes coarse;
  coarse.unitBytes = unitBytes;
  coarse.parts = division.parts;
  coarse.capacityBytes = division.height * unitBytes;
  coarse.rounded = problem;
  coarse.rounded.alignment.clear();
  for (uint64_t &size : coarse.rounded.size)
    size = division.partsOf(size / unitBytes);
  findLowerBound(coarse.rounded);
  return coarse;
}

uint64_t CoarseSizes::partsWithin(uint64_t bytes) const {
  return scaled(bytes / unitBytes + 1, parts, capacityBytes / unitBytes + 1);
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

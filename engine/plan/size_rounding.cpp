#include "engine/plan/size_rounding.h"
#include "engine/base/align.h"

#include <numeric>

namespace gantry::plan {

namespace {

std::vector<uint64_t> distinctAlignments(const Problem &problem) {
  std::vector<uint64_t> alignments = problem.alignment;
  std::sort(alignments.begin(), alignments.end());
  alignments.erase(std::unique(alignments.begin(), alignments.end()), alignments.end());
  return alignments;
}

/// Fixed items cannot grow where their neighbours are fixed too; what has segments counts by those.
bool mayGrow(const Problem &problem, uint32_t item) {
  return !problem.isFixed(item) && !problem.hasSegments(item);
}

/// Rounds up sizes of one problem while the loads of its steps stay below a limit.
class Rounder {
public:
  explicit Rounder(Problem problem) : problem_(std::move(problem)), load_(problem_.stepCount) {
    for (uint32_t i = 0; i + problem_.obstacleCount < problem_.count(); ++i) {
      if (!problem_.hasSegments(i)) {
        add(problem_.begin[i], problem_.end[i], problem_.size[i]);
        continue;
      }
      for (uint32_t s = problem_.segmentBegin[i]; s < problem_.segmentBegin[i + 1]; ++s)
        add(problem_.segments[s].begin, problem_.segments[s].end, problem_.segments[s].size);
    }
  }

  uint64_t bound() const {
    return load_.empty() ? 0 : *std::max_element(load_.begin(), load_.end());
  }

  void roundTo(uint64_t unit, bool byArea, uint64_t limit) {
    std::vector<double> loss(problem_.count());
    for (uint32_t i = 0; i < problem_.count(); ++i)
      loss[i] = static_cast<double>(roundUp(problem_.size[i], unit) - problem_.size[i]) *
                (byArea ? problem_.end[i] - problem_.begin[i] : 1);
    std::vector<uint32_t> order(problem_.count());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return loss[a] < loss[b]; });
    for (const uint32_t item : order)
      grow(item, unit, limit);
  }

  Problem take() {
    problem_.lowerBound = bound();
    problem_.peakStep = static_cast<uint32_t>(
        std::find(load_.begin(), load_.end(), problem_.lowerBound) - load_.begin());
    return std::move(problem_);
  }

private:
  void add(uint32_t begin, uint32_t end, uint64_t size) {
    for (uint32_t t = begin; t < end; ++t)
      load_[t] += size;
  }

  void grow(uint32_t item, uint64_t unit, uint64_t limit) {
    const uint64_t size = roundUp(problem_.size[item], unit);
    const uint64_t more = size - problem_.size[item];
    if (!mayGrow(problem_, item) || problem_.alignment[item] >= unit ||
        (problem_.regionSize != 0 && size > problem_.regionSize))
      return;
    const auto begin = load_.begin() + problem_.begin[item];
    const auto end = load_.begin() + problem_.end[item];
    if (*std::max_element(begin, end) + more > limit)
      return;
    add(problem_.begin[item], problem_.end[item], more);
    problem_.size[item] = size;
    problem_.alignment[item] = unit;
  }

  Problem problem_;
  std::vector<uint64_t> load_;
};

} // namespace

bool hasMixedAlignments(const Problem &problem) {
  return std::adjacent_find(problem.alignment.begin(), problem.alignment.end(),
                            std::not_equal_to<>()) != problem.alignment.end();
}

Problem roundedToOwnAlignment(const Problem &problem) {
  Problem rounded = problem;
  for (uint32_t i = 0; i < problem.count(); ++i) {
    const uint64_t size = roundUp(problem.size[i], problem.alignmentOf(i));
    if (mayGrow(problem, i) && (problem.regionSize == 0 || size <= problem.regionSize))
      rounded.size[i] = size;
  }
  return Rounder(std::move(rounded)).take();
}

std::optional<Problem> roundedFreely(const Problem &problem, const RoundingStyle &style,
                                     uint64_t capacity) {
  Rounder rounder(roundedToOwnAlignment(problem));
  const std::vector<uint64_t> alignments = distinctAlignments(problem);
  const uint64_t bound = rounder.bound();
  if (bound > capacity)
    return std::nullopt;
  const uint64_t limit = bound + (capacity - bound) / 8 * style.eighths;
  if (style.toSecond)
    rounder.roundTo(alignments[1], style.byArea, limit);
  if (style.toLargest)
    rounder.roundTo(alignments.back(), style.byArea, limit);
  return rounder.take();
}

} // namespace gantry::plan

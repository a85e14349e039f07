// The solvers' form of a planning problem: flat arrays, compressed time, half-open intervals.
// Callers of the planner use plan.h instead.
//
// An item is a value of the caller's request (plan.h) with at least one byte. It occupies the box
// [begin, end) in time × [offset, offset + size) in addresses, and a solver chooses its offset.
// Boxes of items whose times overlap must not overlap in addresses. A placement gives each item an
// offset, a multiple of the item's alignment. Its height is the largest offset + size; a placement
// with a smaller height is called lower. Time is compressed: only the distinct moments at which an
// item begins or ends are kept, numbered from 0. A step is the time from one such moment to the
// next, so the set of live items is constant within it.
//
// Invariants, which checkRequest() and buildProblem() establish: begin < end ≤ stepCount;
// size > 0; alignments are powers of two; the sum of all (size + alignment - 1) is less than 2^64.
//
// Ownership: plain values. Threads: a problem does not change once it is built, so any number of
// threads may read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gantry::plan {

struct Problem {
  // One entry per item. alignment is empty if all alignments are 1.
  std::vector<uint32_t> begin; // Step.
  std::vector<uint32_t> end;   // Step, exclusive.
  std::vector<uint64_t> size;  // Bytes.
  std::vector<uint64_t> alignment;

  uint32_t stepCount = 0;
  uint64_t lowerBound = 0; // The largest load (loadsOf()): no placement is lower.
  uint32_t peakStep = 0;   // The first step whose load is the lower bound.

  uint32_t count() const { return static_cast<uint32_t>(size.size()); }
  uint64_t alignmentOf(uint32_t item) const { return alignment.empty() ? 1 : alignment[item]; }
};

/// An offset for each item, and the largest offset + size.
struct Placement {
  std::vector<uint64_t> offset;
  uint64_t height = 0;
};

/// Returns whether each size is a multiple of its item's alignment, so that items of one alignment
/// can be stacked without gaps.
inline bool hasWholeSizes(const Problem &problem) {
  for (uint32_t i = 0; i < problem.alignment.size(); ++i)
    if (problem.size[i] % problem.alignment[i] != 0)
      return false;
  return true;
}

inline uint64_t heightOf(const Problem &problem, const std::vector<uint64_t> &offset) {
  uint64_t height = 0;
  for (uint32_t i = 0; i < problem.count(); ++i)
    height = std::max(height, offset[i] + problem.size[i]);
  return height;
}

/// Fills stepCount, begin and end of the problem from the moments at which the items begin and end,
/// in any unit. Returns the distinct moments in ascending order: step t begins at the moment with
/// index t, and the last step ends at the last moment.
template <typename Moment>
std::vector<Moment> compressTime(Problem &problem, const std::vector<Moment> &begins,
                                 const std::vector<Moment> &ends) {
  std::vector<Moment> moments;
  moments.reserve(begins.size() + ends.size());
  moments.insert(moments.end(), begins.begin(), begins.end());
  moments.insert(moments.end(), ends.begin(), ends.end());
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  const auto stepsOf = [&](const std::vector<Moment> &times) {
    std::vector<uint32_t> steps;
    steps.reserve(times.size());
    for (const Moment time : times)
      steps.push_back(static_cast<uint32_t>(std::lower_bound(moments.begin(), moments.end(), time) -
                                            moments.begin()));
    return steps;
  };
  std::vector<uint32_t> beginSteps = stepsOf(begins);
  problem.end = stepsOf(ends);
  problem.begin = std::move(beginSteps);
  problem.stepCount = moments.empty() ? 0 : static_cast<uint32_t>(moments.size() - 1);
  return moments;
}

/// Returns the load of each step: the sum of the sizes of its live items.
inline std::vector<uint64_t> loadsOf(const Problem &problem) {
  std::vector<uint64_t> loads(problem.stepCount + size_t{1});
  for (uint32_t i = 0; i < problem.count(); ++i) {
    loads[problem.begin[i]] += problem.size[i];
    loads[problem.end[i]] -= problem.size[i]; // May wrap below 0; the prefix sums do not.
  }
  for (uint32_t step = 1; step < loads.size(); ++step)
    loads[step] += loads[step - 1];
  loads.pop_back();
  return loads;
}

/// Fills lowerBound and peakStep.
inline void findLowerBound(Problem &problem) {
  const std::vector<uint64_t> loads = loadsOf(problem);
  const auto peak = std::max_element(loads.begin(), loads.end());
  problem.peakStep = static_cast<uint32_t>(peak - loads.begin());
  problem.lowerBound = loads.empty() ? 0 : *peak;
}

} // namespace gantry::plan

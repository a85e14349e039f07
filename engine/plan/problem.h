// The planner's own form of a problem: flat arrays, compressed time, half-open intervals. What the
// solvers take and return; callers of the planner use plan.h.
//
// An item is one offset to choose. Its box is [begin, end) in time × [offset, offset + size) in
// addresses; two boxes whose times overlap must not overlap in addresses. Time is compressed: it
// counts the distinct moments at which an item begins or ends, so that step t is the time from one
// such moment to the next, and every step is a section in which the set of live items is constant.
//
// Some items occupy less than their box: those with gaps in their lifetime, and groups that share
// storage although their sizes differ. They have segments, which lie inside of the box. A solver
// that does not know segments may place boxes: every such placement is valid.
//
// Invariants (problem.cpp makes them hold, validatePlacement checks the result):
//   begin < end ≤ stepCount; size > 0; alignment a power of two; the sum of all (size + alignment)
//   fits 63 bits; fixed offsets are multiples of the alignment, and fixed items do not overlap each
//   other.
//
// Ownership: plain values. Threads: immutable once built, so any number of them may read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gantry::plan {

inline constexpr uint64_t kFreeOffset = UINT64_MAX;

/// What an item occupies during a part of its box: [begin, end) × [offset, offset + size).
struct Segment {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t size = 0;
};

struct Problem {
  // Per item. alignment and fixedOffset are empty where no item needs one.
  std::vector<uint32_t> begin;
  std::vector<uint32_t> end; // exclusive
  std::vector<uint64_t> size;
  std::vector<uint64_t> alignment;
  std::vector<uint64_t> fixedOffset; // kFreeOffset: to be chosen

  // The segments of item i are segments[segmentBegin[i]] up to segmentBegin[i + 1], by ascending
  // begin and disjoint in time; an item without any occupies its whole box. Empty where no item has
  // segments, else count() + 1 long.
  std::vector<uint32_t> segmentBegin;
  std::vector<Segment> segments;

  // Several arenas lie one above the other in one range of addresses: no item may lie across a
  // multiple of regionSize, which is a multiple of every alignment. 0: there is one arena.
  uint64_t regionSize = 0;

  // The last `obstacleCount` items are ranges that nothing may use: fixed, and not part of the
  // height.
  uint32_t obstacleCount = 0;

  uint32_t stepCount = 0;
  uint64_t lowerBound = 0; // no placement is lower: the largest sum of sizes live in one step
  uint32_t peakStep = 0;   // a step that has it

  uint32_t count() const { return static_cast<uint32_t>(size.size()); }
  uint64_t alignmentOf(uint32_t item) const { return alignment.empty() ? 1 : alignment[item]; }
  bool isFixed(uint32_t item) const {
    return !fixedOffset.empty() && fixedOffset[item] != kFreeOffset;
  }
  bool hasSegments(uint32_t item) const {
    return !segmentBegin.empty() && segmentBegin[item] != segmentBegin[item + 1];
  }
};

/// An offset for each item, and max(offset + size) over all that are not obstacles.
struct Placement {
  std::vector<uint64_t> offset;
  uint64_t height = 0;
};

/// Whether all items are free boxes: what the fast tier and the large-neighbourhood search are for.
inline bool isPlain(const Problem &problem) {
  return problem.fixedOffset.empty() && problem.segments.empty();
}

/// Whether all sizes are multiples of their items' alignments, so that one item may lie on another
/// of its alignment without a gap.
inline bool hasWholeSizes(const Problem &problem) {
  for (uint32_t i = 0; i < problem.alignment.size(); ++i)
    if (problem.size[i] % problem.alignment[i] != 0)
      return false;
  return true;
}

/// max(offset + size) over all items that are not obstacles.
inline uint64_t heightOf(const Problem &problem, const std::vector<uint64_t> &offset) {
  uint64_t height = 0;
  for (uint32_t i = 0; i + problem.obstacleCount < problem.count(); ++i)
    height = std::max(height, offset[i] + problem.size[i]);
  return height;
}

} // namespace gantry::plan

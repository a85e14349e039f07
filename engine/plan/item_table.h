// A problem as the exact search reads it: sizes and offsets in units (the greatest common divisor
// of all of them), so that most problems fit 32-bit numbers; what an item covers in time as a list
// of parts; fixed items as ranges of offsets that others may not take.
//
// Unit is int32_t or int64_t. Built once per problem; immutable, so threads may share it.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// Offsets strictly between below and end make an item overlap a fixed one.
template <typename Unit> struct ForbiddenOffsets {
  Unit below = 0;
  Unit end = 0;
};

template <typename Unit> struct Cover {
  uint32_t begin = 0;
  uint32_t end = 0;
  Unit size = 0;
};

template <typename Unit> struct Item {
  uint32_t begin = 0; // the box
  uint32_t end = 0;
  Unit size = 0;    // the largest of its covers
  Unit minSize = 0; // the smallest
  uint32_t coverBegin = 0;
  uint32_t coverEnd = 0;
  uint32_t forbiddenBegin = 0;
  uint32_t forbiddenEnd = 0;
  Unit alignment = 1;
  Unit fixedOffset = -1; // −1: free
  int32_t twin = -1;     // an equal item of a lower number, which is placed first
  bool isHidden = false; // an obstacle that overlaps another: it forbids, but adds no load

  bool isFixed() const { return fixedOffset >= 0; }
  bool isPlain() const { return coverEnd - coverBegin == 1; }
};

template <typename Unit> struct ItemTable {
  std::vector<Item<Unit>> items;
  std::vector<Cover<Unit>> covers;
  std::vector<ForbiddenOffsets<Unit>> forbidden; // per item ascending and disjoint
  uint32_t stepCount = 0;
  uint32_t obstacleCount = 0; // the last items, as in Problem
  uint64_t unitBytes = 1;
  Unit regionSize = 0; // no item may lie across a multiple of it; 0: there is no such border
  bool simple = true;  // one cover each, nothing aligned, fixed or bordered

  ItemTable(const Problem &problem, uint64_t unit);

  /// The lowest offset that is not below `offset` and that the item may take by itself.
  Unit allowedFrom(const Item<Unit> &item, Unit offset) const {
    if (simple)
      return offset;
    return constrainedFrom(item, offset);
  }
  /// The lowest end of a range forbidden to the item that is above offset, or `otherwise`.
  Unit forbiddenEndAbove(const Item<Unit> &item, Unit offset, Unit otherwise) const;

private:
  Unit constrainedFrom(const Item<Unit> &item, Unit offset) const;
  void addForbidden(const Problem &problem);
  void findTwins();
  void hideOverlappingObstacles();
};

/// The greatest unit in which every size, alignment, fixed offset and border is whole.
uint64_t unitOf(const Problem &problem);

/// Bytes in which all items have room one above the other, whatever is fixed.
uint64_t stackedHeight(const Problem &problem);

extern template struct ItemTable<int32_t>;
extern template struct ItemTable<int64_t>;

} // namespace gantry::plan

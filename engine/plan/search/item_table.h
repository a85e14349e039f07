// A problem in the form that the exact search and the ejection search read. Sizes and offsets are
// in units of their greatest common divisor, so most problems fit 32-bit numbers. Fixed items are
// also given as ranges of offsets that other items cannot take.
//
// Unit is int32_t or int64_t. A table is built once per problem and does not change, so threads may
// share it.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// At an offset strictly between `below` and `end`, an item overlaps a fixed item.
template <typename Unit> struct ForbiddenOffsets {
  Unit below = 0;
  Unit end = 0;
};

template <typename Unit> struct Item {
  uint32_t begin = 0; // Step.
  uint32_t end = 0;   // Step, exclusive.
  Unit size = 0;
  uint32_t forbiddenBegin = 0; // The item's range in ItemTable::forbidden.
  uint32_t forbiddenEnd = 0;
  Unit alignment = 1;
  Unit fixedOffset = -1; // -1: the solver chooses.
  int32_t twin = -1;     // An equal item of a lower number, which is placed first; -1: none.

  bool isFixed() const { return fixedOffset >= 0; }
};

template <typename Unit> struct ItemTable {
  std::vector<Item<Unit>> items;
  std::vector<ForbiddenOffsets<Unit>> forbidden; // Ascending and disjoint within an item's range.
  uint32_t stepCount = 0;
  uint64_t unitBytes = 1;
  bool isSimple = true; // No item is aligned or fixed.

  ItemTable(const Problem &problem, uint64_t unitBytes);

  /// Returns the lowest offset, not below `offset`, at which the item is aligned and overlaps no
  /// fixed item.
  Unit allowedFrom(const Item<Unit> &item, Unit offset) const {
    return isSimple ? offset : constrainedFrom(item, offset);
  }
  /// Returns the lowest end, above `offset`, of a range that is forbidden to the item, or
  /// `otherwise` where there is none.
  Unit forbiddenEndAbove(const Item<Unit> &item, Unit offset, Unit otherwise) const;

private:
  Unit constrainedFrom(const Item<Unit> &item, Unit offset) const;
  void addForbidden();
  void findTwins();
};

/// Returns the largest unit, in bytes, in which every size and fixed offset is whole, and in which
/// aligning a whole offset gives a whole offset.
uint64_t unitOf(const Problem &problem);

/// Returns a height, in bytes, in which all items have room above each other, fixed ones included.
uint64_t stackedHeight(const Problem &problem);

extern template struct ItemTable<int32_t>;
extern template struct ItemTable<int64_t>;

} // namespace gantry::plan

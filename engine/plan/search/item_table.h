// ItemTable: a problem (items with sizes and lifetimes, problem.h) in the form that the exact
// search and the ejection search read. Sizes and offsets are in units of a common divisor
// (unitOf()), so most problems fit 32-bit numbers. The offset of a fixed item is given. For each
// other, free item the table lists the offsets at which it would overlap a fixed item.
//
// Unit is int32_t or int64_t. A table is built once per problem and does not change, so threads may
// share it.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

/// At each offset strictly between `below` and `end`, the item would overlap a fixed item.
template <typename Unit> struct ForbiddenOffsets {
  Unit below = 0;
  Unit end = 0;
};

template <typename Unit> struct Item {
  uint32_t begin = 0; // Step.
  uint32_t end = 0;   // Step, exclusive.
  Unit size = 0;
  uint32_t forbiddenBegin = 0; // The item's indices in ItemTable::forbidden, end exclusive.
  uint32_t forbiddenEnd = 0;
  Unit alignment = 1;
  Unit fixedOffset = -1; // -1: the solver chooses.
  int32_t twin = -1;     // An equal item with a lower number, to be placed first; -1: none.

  bool isFixed() const { return fixedOffset >= 0; }
};

template <typename Unit> struct ItemTable {
  std::vector<Item<Unit>> items;
  std::vector<ForbiddenOffsets<Unit>> forbidden; // Ascending and disjoint within an item's range.
  uint32_t stepCount = 0;
  uint64_t unitBytes = 1;
  bool isSimple = true; // No item is fixed, and every alignment is one unit.

  ItemTable(const Problem &problem, uint64_t unitBytes);

  /// Returns the lowest offset, not below `offset`, at which the item is aligned and overlaps no
  /// fixed item. For a fixed item, returns its fixed offset.
  Unit allowedFrom(const Item<Unit> &item, Unit offset) const {
    return isSimple ? offset : constrainedFrom(item, offset);
  }
  /// Returns the lowest end, above `offset`, of a range that is forbidden to the item, but at most
  /// `otherwise`.
  Unit forbiddenEndAbove(const Item<Unit> &item, Unit offset, Unit otherwise) const;

private:
  Unit constrainedFrom(const Item<Unit> &item, Unit offset) const;
  void addForbidden();
  void findTwins();
};

/// Returns the unit, in bytes. Every size and fixed offset is a multiple of the unit, and rounding
/// a multiple of the unit up to an item's alignment gives a multiple of the unit.
uint64_t unitOf(const Problem &problem);

/// Returns a height, in bytes, within which all items fit: the free items stacked on each other,
/// above the fixed items.
uint64_t stackedHeight(const Problem &problem);

extern template struct ItemTable<int32_t>;
extern template struct ItemTable<int64_t>;

} // namespace gantry::plan

// ItemTable: a problem (items with sizes and lifetimes, problem.h) in the form that the exact
// search and the ejection search read. Sizes and offsets are in units of a common divisor
// (unitOf()), so most problems fit 32-bit numbers.
//
// Unit is int32_t or int64_t. A table is built once per problem and does not change, so threads may
// share it.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

template <typename Unit> struct Item {
  uint32_t begin = 0; // Step.
  uint32_t end = 0;   // Step, exclusive.
  Unit size = 0;
  Unit alignment = 1;
  int32_t twin = -1; // An equal item with a lower number, to be placed first; -1: none.
};

/// Returns the lowest offset, not below `offset`, at which the item is aligned.
template <typename Unit> Unit alignedFrom(const Item<Unit> &item, Unit offset) {
  return item.alignment == 1 ? offset
                             : (offset + item.alignment - 1) / item.alignment * item.alignment;
}

template <typename Unit> struct ItemTable {
  std::vector<Item<Unit>> items;
  uint32_t stepCount = 0;
  uint64_t unitBytes = 1;
  bool isSimple = true; // Every alignment is one unit.

  ItemTable(const Problem &problem, uint64_t unitBytes);

private:
  void findTwins();
};

/// Returns the unit, in bytes. Every size is a multiple of the unit, and rounding a multiple of the
/// unit up to an item's alignment gives a multiple of the unit.
uint64_t unitOf(const Problem &problem);

/// Returns a height, in bytes, within which all items fit: the items stacked on each other.
uint64_t stackedHeight(const Problem &problem);

extern template struct ItemTable<int32_t>;
extern template struct ItemTable<int64_t>;

} // namespace gantry::plan

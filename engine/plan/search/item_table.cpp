// Implements ItemTable, unitOf() and stackedHeight().
#include "engine/plan/search/item_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gantry::plan {

uint64_t unitOf(const Problem &problem) {
  uint64_t unit = 0;
  for (const uint64_t size : problem.size)
    unit = std::gcd(unit, size);
  unit = std::max<uint64_t>(unit, 1);
  // If the alignment divides the unit, every multiple of the unit is aligned. Otherwise the unit
  // must divide the alignment.
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint64_t alignment : problem.alignment)
      if (unit % alignment != 0 && alignment % unit != 0) {
        unit = std::gcd(unit, alignment);
        changed = true;
      }
  }
  return unit;
}

template <typename Unit>
ItemTable<Unit>::ItemTable(const Problem &problem, uint64_t unit)
    : stepCount(problem.stepCount), unitBytes(unit) {
  for (uint32_t i = 0; i < problem.count(); ++i) {
    Item<Unit> item;
    item.begin = problem.begin[i];
    item.end = problem.end[i];
    item.size = static_cast<Unit>(problem.size[i] / unit);
    // An offset in units is aligned if offset × unit is a multiple of the alignment.
    const uint64_t alignment = problem.alignmentOf(i);
    item.alignment = static_cast<Unit>(alignment / std::gcd(alignment, unit));
    isSimple = isSimple && item.alignment == 1;
    items.push_back(item);
  }
  findTwins();
}

template <typename Unit> void ItemTable<Unit>::findTwins() {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](uint32_t i) {
    const Item<Unit> &item = items[i];
    return std::tuple(item.begin, item.end, item.size, item.alignment);
  };
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (size_t k = 1; k < order.size(); ++k) {
    Item<Unit> &item = items[order[k]];
    if (key(order[k - 1]) == key(order[k]))
      item.twin = static_cast<int32_t>(order[k - 1]);
  }
}

uint64_t stackedHeight(const Problem &problem) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < problem.count(); ++i)
    bytes += problem.size[i] + problem.alignmentOf(i);
  return bytes;
}

template struct ItemTable<int32_t>;
template struct ItemTable<int64_t>;

} // namespace gantry::plan

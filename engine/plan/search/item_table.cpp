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
  for (const uint64_t offset : problem.fixedOffset)
    if (offset != kFreeOffset)
      unit = std::gcd(unit, offset);
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
    if (problem.isFixed(i))
      item.fixedOffset = static_cast<Unit>(problem.fixedOffset[i] / unit);
    isSimple = isSimple && item.alignment == 1 && !item.isFixed();
    items.push_back(item);
  }
  addForbidden();
  findTwins();
}

template <typename Unit> void ItemTable<Unit>::addForbidden() {
  std::vector<uint32_t> fixed;
  for (uint32_t i = 0; i < items.size(); ++i)
    if (items[i].isFixed())
      fixed.push_back(i);
  for (Item<Unit> &item : items) {
    const auto first = static_cast<uint32_t>(forbidden.size());
    item.forbiddenBegin = item.forbiddenEnd = first;
    if (item.isFixed())
      continue;
    for (const uint32_t f : fixed) {
      const Item<Unit> &other = items[f];
      if (other.begin < item.end && item.begin < other.end)
        forbidden.push_back({other.fixedOffset - item.size, other.fixedOffset + other.size});
    }
    std::sort(forbidden.begin() + first, forbidden.end(),
              [](const auto &a, const auto &b) { return a.below < b.below; });
    // Merge ranges that overlap. Ranges that only touch leave one offset between them.
    size_t last = first;
    for (size_t k = first + 1; k < forbidden.size(); ++k) {
      if (forbidden[k].below < forbidden[last].end)
        forbidden[last].end = std::max(forbidden[last].end, forbidden[k].end);
      else
        forbidden[++last] = forbidden[k];
    }
    if (forbidden.size() > first)
      forbidden.resize(last + 1);
    item.forbiddenEnd = static_cast<uint32_t>(forbidden.size());
  }
}

template <typename Unit> void ItemTable<Unit>::findTwins() {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](uint32_t i) {
    const Item<Unit> &item = items[i];
    return std::tuple(item.begin, item.end, item.size, item.alignment, item.fixedOffset);
  };
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (size_t k = 1; k < order.size(); ++k) {
    Item<Unit> &item = items[order[k]];
    if (!item.isFixed() && key(order[k - 1]) == key(order[k]))
      item.twin = static_cast<int32_t>(order[k - 1]);
  }
}

template <typename Unit>
Unit ItemTable<Unit>::constrainedFrom(const Item<Unit> &item, Unit offset) const {
  if (item.isFixed())
    return item.fixedOffset;
  uint32_t next = item.forbiddenBegin;
  for (;;) {
    const Unit before = offset;
    if (item.alignment > 1)
      offset = (offset + item.alignment - 1) / item.alignment * item.alignment;
    while (next < item.forbiddenEnd && forbidden[next].end <= offset)
      ++next;
    if (next < item.forbiddenEnd && forbidden[next].below < offset)
      offset = forbidden[next].end;
    if (offset == before)
      return offset;
  }
}

template <typename Unit>
Unit ItemTable<Unit>::forbiddenEndAbove(const Item<Unit> &item, Unit offset, Unit otherwise) const {
  for (uint32_t k = item.forbiddenBegin; k < item.forbiddenEnd; ++k)
    if (forbidden[k].end > offset)
      return std::min(otherwise, forbidden[k].end);
  return otherwise;
}

uint64_t stackedHeight(const Problem &problem) {
  uint64_t fixedEnd = 0;
  uint64_t freeBytes = 0;
  for (uint32_t i = 0; i < problem.count(); ++i) {
    if (problem.isFixed(i))
      fixedEnd = std::max(fixedEnd, problem.fixedOffset[i] + problem.size[i]);
    else
      freeBytes += problem.size[i] + problem.alignmentOf(i);
  }
  return fixedEnd + freeBytes;
}

template struct ItemTable<int32_t>;
template struct ItemTable<int64_t>;

} // namespace gantry::plan

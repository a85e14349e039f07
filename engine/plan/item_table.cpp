#include "engine/plan/item_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gantry::plan {

uint64_t unitOf(const Problem &problem) {
  uint64_t unit = problem.regionSize;
  for (const uint64_t size : problem.size)
    unit = std::gcd(unit, size);
  for (const Segment &segment : problem.segments)
    unit = std::gcd(unit, segment.size);
  for (const uint64_t offset : problem.fixedOffset)
    if (offset != kFreeOffset)
      unit = std::gcd(unit, offset);
  unit = std::max<uint64_t>(unit, 1);
  // Rounding up must lead from whole units to whole units: an alignment divides the unit and rounds
  // nothing, or the unit divides the alignment.
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < problem.alignment.size(); ++i)
      if (unit % problem.alignment[i] != 0 && problem.alignment[i] % unit != 0) {
        unit = std::gcd(unit, problem.alignment[i]);
        changed = true;
      }
  }
  return unit;
}

template <typename Unit>
ItemTable<Unit>::ItemTable(const Problem &problem, uint64_t unit)
    : stepCount(problem.stepCount), obstacleCount(problem.obstacleCount), unitBytes(unit),
      regionSize(static_cast<Unit>(problem.regionSize / unit)), simple(problem.regionSize == 0) {
  for (uint32_t i = 0; i < problem.count(); ++i) {
    Item<Unit> item;
    item.begin = problem.begin[i];
    item.end = problem.end[i];
    item.size = static_cast<Unit>(problem.size[i] / unit);
    item.minSize = item.size;
    item.coverBegin = static_cast<uint32_t>(covers.size());
    if (problem.hasSegments(i)) {
      simple = false;
      for (uint32_t s = problem.segmentBegin[i]; s < problem.segmentBegin[i + 1]; ++s) {
        const Segment &segment = problem.segments[s];
        covers.push_back({segment.begin, segment.end, static_cast<Unit>(segment.size / unit)});
        item.minSize = std::min(item.minSize, covers.back().size);
      }
    } else {
      covers.push_back({item.begin, item.end, item.size});
    }
    item.coverEnd = static_cast<uint32_t>(covers.size());
    // Alignment a: the offset in units must make offset × unit a multiple of a.
    const uint64_t alignment = problem.alignmentOf(i);
    item.alignment = static_cast<Unit>(alignment / std::gcd(alignment, unit));
    simple = simple && item.alignment == 1;
    if (problem.isFixed(i)) {
      item.fixedOffset = static_cast<Unit>(problem.fixedOffset[i] / unit);
      simple = false;
    }
    items.push_back(item);
  }
  addForbidden(problem);
  findTwins();
  hideOverlappingObstacles();
}

template <typename Unit> void ItemTable<Unit>::hideOverlappingObstacles() {
  const size_t first = items.size() - obstacleCount;
  for (size_t a = first; a < items.size(); ++a)
    for (size_t b = first; b < a && !items[a].isHidden; ++b)
      items[a].isHidden = !items[b].isHidden && items[a].begin < items[b].end &&
                          items[b].begin < items[a].end &&
                          items[a].fixedOffset < items[b].fixedOffset + items[b].size &&
                          items[b].fixedOffset < items[a].fixedOffset + items[a].size;
}

template <typename Unit> void ItemTable<Unit>::addForbidden(const Problem &problem) {
  std::vector<uint32_t> fixed;
  for (uint32_t i = 0; i < problem.count(); ++i)
    if (items[i].isFixed())
      fixed.push_back(i);
  for (Item<Unit> &item : items) {
    const auto first = static_cast<uint32_t>(forbidden.size());
    item.forbiddenBegin = item.forbiddenEnd = first;
    if (item.isFixed())
      continue;
    for (const uint32_t f : fixed) {
      const Item<Unit> &other = items[f];
      if (other.begin >= item.end || item.begin >= other.end)
        continue;
      // Each pair of parts that meet in time forbids an open range around the fixed offset, so the
      // union of all is one range.
      Unit under = 0;
      Unit over = 0;
      for (uint32_t a = item.coverBegin; a < item.coverEnd; ++a)
        for (uint32_t b = other.coverBegin; b < other.coverEnd; ++b)
          if (covers[a].begin < covers[b].end && covers[b].begin < covers[a].end) {
            under = std::max(under, covers[a].size);
            over = std::max(over, covers[b].size);
          }
      if (over > 0)
        forbidden.push_back({other.fixedOffset - under, other.fixedOffset + over});
    }
    std::sort(forbidden.begin() + first, forbidden.end(),
              [](const auto &a, const auto &b) { return a.below < b.below; });
    size_t last = first; // merge what overlaps; touching ranges leave one offset between them
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
    return std::tuple(item.begin, item.end, item.size, item.alignment, item.isPlain(),
                      item.fixedOffset);
  };
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (size_t k = 1; k < order.size(); ++k) {
    Item<Unit> &item = items[order[k]];
    if (!item.isFixed() && item.isPlain() && key(order[k - 1]) == key(order[k]))
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
    if (regionSize > 0 && offset / regionSize != (offset + item.size - 1) / regionSize)
      offset = (offset / regionSize + 1) * regionSize;
    for (; next < item.forbiddenEnd && forbidden[next].end <= offset; ++next) {
    }
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
  uint64_t height = problem.regionSize;
  for (uint32_t i = 0; i < problem.count(); ++i) {
    height += problem.size[i] + problem.alignmentOf(i);
    if (problem.isFixed(i))
      height = std::max(height, problem.fixedOffset[i] + problem.size[i]);
  }
  return height;
}

template struct ItemTable<int32_t>;
template struct ItemTable<int64_t>;

} // namespace gantry::plan

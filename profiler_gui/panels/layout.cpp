// Implements makeLayout() and makeComparedLayout().
#include "profiler_gui/panels/layout.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {

bool parseFocus(const std::string &text, Focus *focus) {
  if (text == "lifetimes")
    *focus = Focus::kLifetimes;
  else if (text == "heap")
    *focus = Focus::kHeap;
  else if (text == "dispatches")
    *focus = Focus::kDispatches;
  else if (text == "operators")
    *focus = Focus::kOperators;
  else
    return false;
  return true;
}

Layout makeLayout(float width, float height, float scale, Focus focus, const Contents &contents) {
  Layout layout;
  layout.window = {0, 0, width, height};
  const float unit = 8 * scale;
  const float top = 5 * unit;
  const float bottom = height - std::round(3.25f * unit);
  layout.topBar = {0, 0, width, top};
  layout.statusBar = {0, bottom, width, height};
  const float inspectorWidth = width >= 1000 * scale ? 40 * unit : 0;
  layout.inspector = {width - inspectorWidth, top, width, bottom};
  const float right = layout.inspector.left;
  layout.plotLeft = 21 * unit;
  layout.plotRight = std::max(layout.plotLeft + unit, right - 11 * unit);

  const float available = bottom - top;
  const float axis = 3 * unit;
  const float minimap = 4 * unit;
  const float strips = static_cast<float>(std::clamp(contents.heaps, 1u, 3u));
  const float rows = static_cast<float>(std::clamp(contents.lanes, 1u, 8u));
  float heap = std::min(available * 0.16f, strips * 9 * unit);
  if (contents.heaps == 0)
    heap = 3 * unit;
  float shared = std::min(available * 0.12f, 11 * unit);
  float lane = std::min(available * 0.12f, rows * 3 * unit + unit);
  if (focus == Focus::kHeap && contents.heaps > 0) {
    heap = available * 0.55f;
  } else if (focus == Focus::kDispatches) {
    heap = std::min(heap, std::min(available * 0.12f, strips * 8 * unit));
    shared = std::min(available * 0.18f, 16 * unit);
    lane = available * 0.48f;
  } else if (focus == Focus::kOperators) {
    heap = std::min(heap, std::min(available * 0.12f, strips * 8 * unit));
    lane = std::min(available * 0.16f, rows * 4 * unit + unit);
  }
  if (!contents.sharedUsed)
    shared = 3 * unit;
  heap = std::round(heap);
  shared = focus == Focus::kOperators ? 0 : std::round(shared);
  lane = std::round(lane);

  float y = top;
  const auto take = [&](float size) {
    const ScreenRect rect{0, y, right, y + size};
    y += size;
    return rect;
  };
  layout.heap = take(heap);
  layout.axis = take(axis);
  layout.minimap = take(minimap);
  const bool table = focus == Focus::kOperators;
  layout.lifetimes = take(table ? 0 : std::max(unit, bottom - y - shared - lane));
  layout.shared = take(shared);
  layout.lanes = take(lane);
  layout.plotsBottom = layout.lanes.bottom;
  layout.operators = take(table ? std::max(unit, bottom - y) : 0);
  return layout;
}

ComparedLayout makeComparedLayout(float width, float height, float scale, Focus focus,
                                  const Contents &first, const Contents &second) {
  const Contents both{first.heaps, first.lanes + second.lanes, false};
  const Layout whole = makeLayout(width, height, scale, focus, both);
  const float unit = 8 * scale;
  const float top = whole.minimap.bottom;
  const bool table = focus == Focus::kOperators;
  const float caption = 3 * unit;
  // With the table of operators, each capture has only its lanes above the table.
  const float bottom = table ? whole.lanes.bottom + 2 * caption : whole.plotsBottom;
  const float half = std::round((bottom - top) / 2);
  const auto part = [&](float begin, float end, uint32_t lanes) {
    Layout layout = whole;
    const float right = whole.lifetimes.right;
    const float rows = static_cast<float>(std::clamp(lanes, 1u, 8u));
    const float maxLane = (end - begin) * (focus == Focus::kDispatches ? 0.6f : 0.25f);
    const float wanted =
        focus == Focus::kDispatches ? maxLane : std::min(maxLane, rows * 2.5f * unit + unit / 2);
    const float lane = table ? end - begin - caption : std::round(wanted);
    layout.caption = {0, begin, right, begin + caption};
    layout.lifetimes = {0, layout.caption.bottom, right, end - lane};
    layout.shared = {0, end - lane, right, end - lane};
    layout.lanes = {0, end - lane, right, end};
    layout.plotsBottom = bottom;
    layout.operators.top = std::min(bottom, layout.operators.bottom);
    return layout;
  };
  return {part(top, top + half, first.lanes), part(top + half, bottom, second.lanes)};
}

} // namespace gantry::profiler

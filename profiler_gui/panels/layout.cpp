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
  else
    return false;
  return true;
}

Layout makeLayout(float width, float height, float scale, Focus focus, uint32_t heaps,
                  uint32_t lanes) {
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

  const float room = bottom - top;
  const float axis = 3 * unit;
  const float minimap = 4 * unit;
  const float strips = static_cast<float>(std::clamp(heaps, 1u, 3u));
  const float rows = static_cast<float>(std::clamp(lanes, 1u, 8u));
  float heap = std::min(room * 0.16f, strips * 9 * unit);
  float shared = std::min(room * 0.12f, 11 * unit);
  float lane = std::min(room * 0.12f, rows * 3 * unit + unit);
  if (focus == Focus::kHeap) {
    heap = room * 0.55f;
  } else if (focus == Focus::kDispatches) {
    shared = room * 0.36f;
    lane = std::min(room * 0.3f, rows * 5 * unit + unit);
  }
  heap = std::round(heap);
  shared = std::round(shared);
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
  layout.lifetimes = take(std::max(unit, bottom - y - shared - lane));
  layout.shared = take(shared);
  layout.lanes = take(lane);
  layout.plotsBottom = layout.lanes.bottom;
  return layout;
}

ComparedLayout makeComparedLayout(float width, float height, float scale, Focus focus,
                                  uint32_t heaps, uint32_t firstLanes, uint32_t secondLanes) {
  const Layout whole = makeLayout(width, height, scale, focus, heaps, firstLanes + secondLanes);
  const float unit = 8 * scale;
  const float top = whole.lifetimes.top;
  const float half = std::round((whole.plotsBottom - top) / 2);
  const auto part = [&](float begin, float end, uint32_t lanes) {
    Layout layout = whole;
    const float right = whole.lifetimes.right;
    const float rows = static_cast<float>(std::clamp(lanes, 1u, 8u));
    const float most = (end - begin) * (focus == Focus::kDispatches ? 0.5f : 0.25f);
    const float lane = std::round(std::min(most, rows * 2.5f * unit + unit / 2));
    layout.caption = {0, begin, right, begin + 3 * unit};
    layout.lifetimes = {0, layout.caption.bottom, right, end - lane};
    layout.shared = {0, end - lane, right, end - lane};
    layout.lanes = {0, end - lane, right, end};
    return layout;
  };
  return {part(top, top + half, firstLanes), part(top + half, whole.plotsBottom, secondLanes)};
}

} // namespace gantry::profiler

// Draws the minimap: the live bytes of all heaps over the whole capture, with a frame around the
// time range that the plots show.
#include "profiler_gui/panels/panels.h"

#include <algorithm>
#include <vector>

namespace gantry::profiler {

namespace {

/// Computes the minimap's curve: the live bytes of all heaps relative to the sum of their peaks.
void fillColumns(const CaptureModel &model, const ScreenRect &plot, double first, double last,
                 MinimapColumns *columns) {
  columns->events = model.eventCount();
  columns->left = plot.left;
  columns->right = plot.right;
  uint64_t peakSum = 1;
  for (const Heap &heap : model.heaps())
    peakSum += heap.live.peak();
  std::vector<uint64_t> bounds;
  for (float x = plot.left; x < plot.right + 1; x += 1)
    bounds.push_back(static_cast<uint64_t>(
        first + static_cast<double>((x - plot.left) / plot.width()) * (last - first)));
  bounds.back() += 1; // Includes the last event.
  std::vector<uint64_t> sums(bounds.size() - 1);
  std::vector<ValueRange> ranges;
  for (const Heap &heap : model.heaps()) {
    heap.live.ranges(bounds, &ranges);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += ranges[i].high;
  }
  columns->share.clear();
  for (const uint64_t sum : sums)
    columns->share.push_back(
        static_cast<float>(static_cast<double>(sum) / static_cast<double>(peakSum)));
}

} // namespace

void drawMinimap(Ui &ui) {
  const ScreenRect &panel = ui.layout.minimap;
  const Theme &theme = *ui.theme;
  const ScreenRect plot = ui.plot(panel);
  ui.fill(panel, theme.panel);
  ui.write(ui.fonts.small, panel.left + 2 * ui.unit(),
           (panel.top + panel.bottom - ui.fonts.small->FontSize) / 2, theme.dim,
           ui.model->modelled() ? "all variants" : "whole capture", 1e9f, "minimap/name", "label");
  ui.semantics->add("minimap", "panel", panel, "", theme.panel);

  const double first = static_cast<double>(std::min(ui.model->firstNs(), ui.model->nowNs()));
  const double last = static_cast<double>(std::max(ui.model->nowNs(), uint64_t{1}));
  if (ui.minimap.events != ui.model->eventCount() || ui.minimap.left != plot.left ||
      ui.minimap.right != plot.right)
    fillColumns(*ui.model, plot, first, last, &ui.minimap);
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  const float inner = plot.height() - ui.unit();
  float x = plot.left;
  for (const float share : ui.minimap.share) {
    rects.push_back({x, plot.bottom - ui.unit() / 2 - share * inner, x + 1,
                     plot.bottom - ui.unit() / 2, faded(theme.curve, 0.6f), kRectPlain});
    x += 1;
  }
  ui.canvas->addRects(*ui.list, rects);
  const auto place = [&](double ns) {
    return plot.left +
           static_cast<float>(std::clamp((ns - first) / (last - first), 0.0, 1.0)) * plot.width();
  };
  const float left = place(ui.time.beginNs());
  const float right = std::max(place(ui.time.endNs()), left + 2);
  ui.fill({plot.left, panel.top, left, panel.bottom}, faded(theme.background, 0.6f));
  ui.fill({right, panel.top, plot.right, panel.bottom}, faded(theme.background, 0.6f));
  ui.list->AddRect({left, panel.top + 1}, {right, panel.bottom - 1}, theme.accent);
  ui.semantics->add("minimap/view", "range", {left, panel.top, right, panel.bottom}, "",
                    theme.accent);
  ui.lineY(panel.bottom - 1, panel.left, panel.right, theme.line);
}

} // namespace gantry::profiler

#include "profiler_gui/panels/panels.h"

#include <algorithm>

namespace gantry::profiler {

void drawMinimap(Ui &ui) {
  const ScreenRect &panel = ui.layout.minimap;
  const Theme &theme = *ui.theme;
  const ScreenRect plot = ui.plot(panel);
  ui.fill(panel, theme.panel);
  ui.write(ui.fonts.small, panel.left + 2 * ui.unit(),
           (panel.top + panel.bottom - ui.fonts.small->FontSize) / 2, theme.dim, "whole capture",
           1e9f, "minimap/name", "label");
  ui.semantics->add("minimap", "panel", panel, "", theme.panel);

  // All heaps' live bytes over the whole capture.
  const double first = static_cast<double>(std::min(ui.model->firstNs(), ui.model->nowNs()));
  const double last = static_cast<double>(std::max(ui.model->nowNs(), uint64_t{1}));
  uint64_t most = 1;
  for (const Heap &heap : ui.model->heaps())
    most += heap.live.peak();
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  const float inner = plot.height() - ui.unit();
  for (float x = plot.left; x < plot.right; x += 1) {
    const double share = static_cast<double>((x - plot.left) / plot.width());
    const double step = (last - first) / static_cast<double>(plot.width());
    const double begin = first + share * (last - first);
    uint64_t high = 0;
    for (const Heap &heap : ui.model->heaps())
      high += heap.live.range(static_cast<uint64_t>(begin), static_cast<uint64_t>(begin + step) + 1)
                  .high;
    const float height = static_cast<float>(static_cast<double>(high) / static_cast<double>(most));
    rects.push_back({x, plot.bottom - ui.unit() / 2 - height * inner, x + 1,
                     plot.bottom - ui.unit() / 2, faded(theme.curve, 0.6f), kRectPlain});
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

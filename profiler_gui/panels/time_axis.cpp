#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/text.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {

std::vector<double> timeTicks(double beginNs, double endNs, int most) {
  std::vector<double> ticks;
  const double rough = (endNs - beginNs) / std::max(1, most);
  double step = std::pow(10.0, std::floor(std::log10(std::max(rough, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (step * factor >= rough) {
      step *= factor;
      break;
    }
  }
  for (double tick = std::ceil(beginNs / step) * step; tick < endNs; tick += step)
    ticks.push_back(tick);
  return ticks;
}

void drawTimeAxis(Ui &ui) {
  const ScreenRect &panel = ui.layout.axis;
  const Theme &theme = *ui.theme;
  const ScreenRect plot = ui.plot(panel);
  ui.fill(panel, theme.panel);
  ui.lineY(panel.bottom - 1, panel.left, panel.right, theme.line);
  ui.semantics->add("time_axis", "panel", panel, timeText(ui.time.spanNs()), theme.panel);
  const int most = static_cast<int>(plot.width() / (11 * ui.unit()));
  const float y = (panel.top + panel.bottom - ui.fonts.numbers->FontSize) / 2;
  ui.pushClip({plot.left - 4 * ui.unit(), panel.top, panel.right, panel.bottom});
  for (const double tick : timeTicks(ui.time.beginNs(), ui.time.endNs(), most)) {
    const float x = ui.xOf(tick);
    ui.lineX(x, panel.top, panel.top + ui.unit() / 2, theme.dim);
    const std::string text = timeText(tick);
    const float width = Ui::widthOf(ui.fonts.numbers, text);
    if (x - width / 2 >= plot.left - 3 * ui.unit() && x + width / 2 <= panel.right - ui.unit())
      ui.write(ui.fonts.numbers, x - width / 2, y + 1, theme.dim, text, 1e9f, "time_axis/tick",
               "label");
  }
  ui.popClip();
}

void drawTimeMarks(Ui &ui) {
  const Theme &theme = *ui.theme;
  const float top = ui.layout.heap.top;
  const float bottom = ui.layout.plotsBottom;
  const ScreenRect all{ui.layout.plotLeft, top, ui.layout.plotRight, bottom};
  ui.pushClip(all);
  if (ui.hasRange) {
    const float left = ui.xOf(std::min(ui.rangeBeginNs, ui.rangeEndNs));
    const float right = ui.xOf(std::max(ui.rangeBeginNs, ui.rangeEndNs));
    ui.fill({left, top, right, bottom}, faded(theme.selection, 0.08f));
    ui.lineX(left, top, bottom, theme.selection);
    ui.lineX(right, top, bottom, theme.selection);
    ui.semantics->add("range", "range", {left, top, right, bottom},
                      timeText(std::abs(ui.rangeEndNs - ui.rangeBeginNs)), theme.selection);
  }
  for (const double marker : ui.markers)
    ui.lineX(ui.xOf(marker), top, bottom, theme.accent);
  if (ui.mouseInPlots)
    ui.lineX(ui.mouseX, top, bottom, faded(theme.text, 0.3f));
  ui.popClip();
}

} // namespace gantry::profiler

// Draws the time axis, and the vertical lines that cross all plots.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"
#include "profiler_gui/model/time_scale.h"
#include "profiler_gui/model/capture/unrun_capture.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gantry::profiler {
namespace {

constexpr float kMinTickUnits = 11; // Min distance of two ticks, in grid units (Ui::unit()).

/// The smallest of 1, 2 or 5 times a power of ten that is at least `rough` and at least 1.
double roundStep(double rough) {
  const double decade = std::pow(10.0, std::floor(std::log10(std::max(rough, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (decade * factor >= rough)
      return decade * factor;
  }
  return decade * 10;
}

/// Ticks for an artifact that was never run: command numbers. They restart at each run of the
/// capture, which shows another variant of the kernels (unrun_capture.h).
std::vector<AxisTick> commandTicks(const Ui &ui, double maxTicks) {
  std::vector<AxisTick> ticks;
  const double step = roundStep(ui.time.spanNs() / kUnrunCommandNs / maxTicks) * kUnrunCommandNs;
  const auto &runs = ui.model->runs();
  for (size_t i = 0; i < runs.size(); ++i) {
    const double begin = static_cast<double>(runs[i].beginNs);
    const double end = std::min(static_cast<double>(runs[i].endNs), ui.time.endNs());
    const double skipped = std::ceil(std::max(0.0, ui.time.beginNs() - begin) / step);
    for (double at = begin + skipped * step; at < end; at += step) {
      const bool first = at == begin && runs.size() > 1;
      const auto number = static_cast<uint64_t>(std::llround((at - begin) / kUnrunCommandNs));
      ticks.push_back({at, first ? "variant " + std::to_string(i + 1) : countText(number), first});
    }
  }
  return ticks;
}

} // namespace

AxisTicks axisTicks(const Ui &ui) {
  const float width = ui.layout.plotRight - ui.layout.plotLeft;
  const double maxTicks =
      std::max(1.0, std::floor(static_cast<double>(width / (kMinTickUnits * ui.unit()))));
  AxisTicks axis;
  if (ui.model->modelled()) {
    axis.base = "command · modelled";
    axis.ticks = commandTicks(ui, maxTicks);
    return axis;
  }
  const double step = roundStep(ui.time.spanNs() / maxTicks);
  const double first = std::ceil(ui.time.beginNs() / step);
  const TimeScale scale(ui.time.beginNs(), ui.time.endNs(), step);
  for (double number = first; number * step < ui.time.endNs(); number += 1)
    axis.ticks.push_back({number * step, scale.text(number * step)});
  axis.base = scale.baseNs() > 0 ? "from " + scale.baseText() : "time";
  return axis;
}

void drawTimeAxis(Ui &ui) {
  const ScreenRect &panel = ui.layout.axis;
  const Theme &theme = *ui.theme;
  const ScreenRect plot = ui.plot(panel);
  const float unit = ui.unit();
  ui.fill(panel, theme.panel);
  ui.lineY(panel.bottom - 1, panel.left, panel.right, theme.line);
  ui.semantics->add("time_axis", "panel", panel, ui.lengthText(ui.time.spanNs()), theme.panel);
  const AxisTicks axis = axisTicks(ui);
  const float y = (panel.top + panel.bottom - ui.fonts.numbers->FontSize) / 2;
  const float left = panel.left + 2 * unit;
  const float baseEnd =
      left + ui.write(ui.fonts.small, left,
                      (panel.top + panel.bottom - ui.fonts.small->FontSize) / 2, theme.dim,
                      axis.base, plot.left - left - unit, "time_axis/base", "label");
  std::vector<std::pair<float, float>> taken = {{panel.left, baseEnd}};
  for (const bool major : {true, false}) {
    for (const AxisTick &tick : axis.ticks) {
      if (tick.major != major)
        continue;
      const float x = ui.xOf(tick.ns);
      ui.lineX(x, panel.top, panel.top + unit / 2, theme.dim);
      const float half = Ui::widthOf(ui.fonts.numbers, tick.text) / 2;
      const bool hidden = std::any_of(taken.begin(), taken.end(), [&](const auto &other) {
        return x - half < other.second + unit && x + half > other.first - unit;
      });
      if (hidden || x + half > panel.right - unit)
        continue;
      ui.write(ui.fonts.numbers, x - half, y + 1, theme.dim, tick.text, 1e9f, "time_axis/tick",
               "label");
      taken.emplace_back(x - half, x + half);
    }
  }
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
                      ui.lengthText(std::abs(ui.rangeEndNs - ui.rangeBeginNs)), theme.selection);
  }
  for (const double marker : ui.markers)
    ui.lineX(ui.xOf(marker), top, bottom, theme.accent);
  if (ui.mouseInPlots)
    ui.lineX(ui.mouseX, top, bottom, faded(theme.text, 0.3f));
  ui.popClip();
}

} // namespace gantry::profiler

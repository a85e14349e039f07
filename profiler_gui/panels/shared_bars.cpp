// Draws the shared memory per workgroup of each dispatch as bars, with a line for the device's
// limit.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"
#include "profiler_gui/panels/dispatch_columns.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {

namespace {

/// Adds a column to the description of the screen that tests read (semantics.h): the "bar" of one
/// dispatch, or the "bars" of several dispatches with the maximum of their bytes.
void addToSemantics(Ui &ui, const Lane &lane, const DispatchColumn &column, const ScreenRect &rect,
                    uint32_t bytes, uint32_t colour) {
  if (!ui.semantics->wanted())
    return;
  const std::string index = std::to_string(lane.dispatches[column.first]);
  const uint32_t count = column.last - column.first;
  if (count == 1)
    ui.semantics->add("shared/" + index, "bar", rect, std::to_string(bytes) + " bytes", colour);
  else
    ui.semantics->add("shared/from/" + index, "bars", rect,
                      std::to_string(count) + " of at most " + std::to_string(bytes) + " bytes",
                      colour);
}

/// Draws the panel of a capture without shared memory: one line with the device's limit.
void drawUnused(Ui &ui, uint32_t limit) {
  const ScreenRect &panel = ui.layout.shared;
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  const ScreenRect plot = ui.plot(panel);
  const float y = (panel.top + panel.bottom - ui.fonts.small->FontSize) / 2;
  const float left = panel.left + 2 * unit;
  ui.lineY(panel.top, panel.left, panel.right, theme.line);
  ui.write(ui.fonts.small, left, y, theme.dim, "shared memory", plot.left - left - unit,
           "shared/name", "label");
  std::string text = ui.model->dispatches().size() > 0 ? "no dispatch uses any" : "no dispatches";
  if (limit > 0) {
    text += " · a workgroup may have " + bytesText(limit);
    ui.semantics->add("shared/limit", "text", panel, bytesText(limit), theme.dim);
  }
  ui.write(ui.fonts.small, plot.left + unit, y, theme.dim, text, plot.width() - unit, "shared/none",
           "label");
  ui.lineY(panel.bottom - 1, panel.left, panel.right, theme.line);
  const DispatchTable &dispatches = ui.model->dispatches();
  for (size_t number = 0; ui.semantics->wanted() && number < dispatches.lanes().size(); ++number) {
    const Lane &lane = dispatches.lanes()[number];
    for (const DispatchColumn &column : columnsOf(ui, number))
      addToSemantics(ui, lane, column, {column.left, panel.bottom - 1, column.right, panel.bottom},
                     0, theme.dispatch);
  }
}

} // namespace

void drawSharedBars(Ui &ui) {
  const ScreenRect &panel = ui.layout.shared;
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  const ScreenRect plot = ui.plot(panel);
  ui.fill(panel, theme.panel);
  if (panel.height() <= 0)
    return; // The table of operators is shown instead.
  ui.semantics->add("shared", "panel", panel, "shared memory", theme.panel);
  const float left = panel.left + 2 * unit;
  const CaptureModel &model = *ui.model;
  const DispatchTable &dispatches = model.dispatches();
  uint32_t limit = 0;
  for (const Device &device : model.devices())
    limit = std::max(limit, device.sharedBytesLimit);
  if (!contentsOf(model).sharedUsed) {
    drawUnused(ui, limit);
    return;
  }
  ui.write(ui.fonts.text, left, panel.top + unit / 2, theme.text, "shared memory",
           plot.left - left - unit, "shared/name", "label");
  ui.write(ui.fonts.small, left, panel.top + unit / 2 + ui.fonts.text->FontSize + 2, theme.dim,
           "per workgroup", plot.left - left - unit, "shared/unit");

  uint32_t maxBytes = 1;
  for (const Lane &lane : dispatches.lanes())
    maxBytes = std::max(maxBytes, lane.maxSharedOfAll);
  const double top = static_cast<double>(std::max(maxBytes, limit)) * 1.08;
  const float base = panel.bottom - unit / 2;
  const auto y = [&](double bytes) {
    return base - static_cast<float>(bytes / top) * (base - panel.top - unit / 2);
  };

  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  for (size_t number = 0; number < dispatches.lanes().size(); ++number) {
    const Lane &lane = dispatches.lanes()[number];
    for (const DispatchColumn &column : columnsOf(ui, number)) {
      const uint32_t bytes = dispatches.maxShared(lane, {column.first, column.last});
      const uint32_t index = lane.dispatches[column.first];
      const bool single = column.last == column.first + 1;
      const ScreenRect bar{column.left, bytes == 0 ? base - 1 : y(bytes), column.right, base};
      const bool over = limit > 0 && bytes > limit;
      uint32_t colour = over                   ? theme.over
                        : lane.number % 2 == 0 ? theme.dispatch
                                               : theme.secondDispatch;
      const bool chosen =
          single && ui.selected.kind == Pick::Kind::kDispatch && ui.selected.dispatch == index;
      if (isDimmed(ui, column, lane) || (ui.selected.kind == Pick::Kind::kDispatch && !chosen))
        colour = faded(colour, 0.5f);
      rects.push_back({bar.left, bar.top, bar.right, bar.bottom, colour, kRectEdge});
      addToSemantics(ui, lane, column, bar, bytes, colour);
      if (ui.mouseInPlots && ui.mouseX >= column.left && ui.mouseX < column.right &&
          ui.mouseY >= panel.top && ui.mouseY < panel.bottom)
        ui.hovered = {Pick::Kind::kDispatch, 0, 0, index, 0};
    }
  }
  // Lower bars are drawn in front of higher ones that overlap them in time.
  std::stable_sort(rects.begin(), rects.end(),
                   [](const RectInstance &a, const RectInstance &b) { return a.top < b.top; });
  ui.pushClip(plot);
  ui.canvas->addRects(*ui.list, rects);
  ui.popClip();
  if (limit > 0) {
    const float at = y(limit);
    ui.lineY(at, plot.left, plot.right, theme.over);
    ui.semantics->add("shared/limit", "line", {plot.left, at, plot.right, at + 1}, bytesText(limit),
                      theme.over);
    ui.write(ui.fonts.small, plot.right + unit, at - ui.fonts.small->FontSize / 2, theme.over,
             "limit " + bytesText(limit), panel.right - plot.right - unit, "shared/limit_label",
             "label");
  }
  if (maxBytes > 1 && std::abs(y(maxBytes) - y(limit)) > ui.fonts.small->FontSize)
    ui.write(ui.fonts.small, plot.right + unit, y(maxBytes) - ui.fonts.small->FontSize / 2,
             theme.dim, "max " + bytesText(maxBytes), panel.right - plot.right - unit, "shared/max",
             "label");
  ui.lineY(panel.bottom - 1, panel.left, panel.right, theme.line);
}

} // namespace gantry::profiler

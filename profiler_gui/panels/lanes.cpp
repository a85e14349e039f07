// What the device and the host did, in lanes: dispatches that overlap in time lie in lanes of their
// own, so that none hides another.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/text.h"
#include "profiler_gui/panels/dispatch_columns.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

void drawLane(Ui &ui, size_t number, const ScreenRect &row) {
  const Theme &theme = *ui.theme;
  const CaptureModel &model = *ui.model;
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  const Lane &lane = model.dispatches().lanes()[number];
  const std::vector<DispatchColumn> &columns = columnsOf(ui, number);
  const uint32_t base = lane.number % 2 == 0 ? theme.dispatch : theme.secondDispatch;
  for (const DispatchColumn &column : columns) {
    const uint32_t index = lane.dispatches[column.first];
    const bool single = column.last == column.first + 1;
    const bool chosen =
        single && ui.selected.kind == Pick::Kind::kDispatch && ui.selected.dispatch == index;
    uint32_t colour = single ? base : faded(base, 0.75f);
    if (ui.selected.kind == Pick::Kind::kDispatch && !chosen)
      colour = faded(colour, 0.5f);
    const ScreenRect box{column.left, row.top + 1, column.right, row.bottom - 1};
    rects.push_back({box.left, box.top, box.right, box.bottom, colour, kRectEdge});
    if (chosen)
      rects.push_back(
          {box.left, box.top, box.right, box.bottom, theme.selection, kRectOutline | kRectBold});
    if (single && ui.semantics->wanted()) {
      const Dispatch &dispatch = model.dispatches()[index];
      const Run &run = model.runs()[dispatch.run];
      std::string name;
      if (run.plan < model.plans().size() &&
          dispatch.command < model.plans()[run.plan].commands.size())
        name = ui.nameOf(model.plans()[run.plan].commands[dispatch.command].name, "");
      ui.semantics->add("dispatch/" + std::to_string(index), "dispatch", box, name, colour);
    }
    if (ui.mouseInPlots && box.contains(ui.mouseX, ui.mouseY))
      ui.hovered = {Pick::Kind::kDispatch, 0, 0, index, 0};
  }
  ui.canvas->addRects(*ui.list, rects);
  const float inset = ui.unit() / 2;
  for (const DispatchColumn &column : columns) {
    const float left = std::max(column.left, ui.layout.plotLeft);
    const float right = std::min(column.right, ui.layout.plotRight);
    if (right - left < 5 * ui.unit() || column.last != column.first + 1)
      continue;
    const Dispatch &dispatch = model.dispatches()[lane.dispatches[column.first]];
    const Run &run = model.runs()[dispatch.run];
    if (run.plan >= model.plans().size() ||
        dispatch.command >= model.plans()[run.plan].commands.size())
      continue;
    ui.write(ui.fonts.small, left + inset, (row.top + row.bottom - ui.fonts.small->FontSize) / 2,
             theme.onKind, model.text(model.plans()[run.plan].commands[dispatch.command].name),
             right - left - 2 * inset);
  }
}

/// The outermost spans of all threads, in one row.
void drawHostRow(Ui &ui, const ScreenRect &row) {
  const Theme &theme = *ui.theme;
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  struct Label {
    float left, right;
    uint32_t name;
  };
  std::vector<Label> labels;
  const auto &spans = ui.model->hostSpans();
  const double now = static_cast<double>(ui.model->nowNs());
  const HostRow &order = ui.model->hostRow();
  const auto moment = [](double ns) { return static_cast<uint64_t>(std::max(0.0, ns)); };
  for (size_t i = order.firstReaching(0, moment(ui.time.beginNs()));
       i < order.latestEndNs.size();) {
    const HostSpan &span = spans[order.spans[i]];
    if (static_cast<double>(span.beginNs) > ui.time.endNs())
      break;
    const float left = ui.xOf(static_cast<double>(span.beginNs));
    const float right = std::max(ui.xOf(std::min(static_cast<double>(span.endNs), now)), left + 1);
    rects.push_back({left, row.top + 1, right, row.bottom - 1, theme.raised, kRectEdge});
    if (right - left >= 5 * ui.unit())
      labels.push_back(
          {std::max(left, ui.layout.plotLeft), std::min(right, ui.layout.plotRight), span.name});
    // On to the next one that reaches beyond the pixels that are full.
    i = order.firstReaching(i + 1, moment(ui.timeAt(right + 0.5f)));
  }
  ui.canvas->addRects(*ui.list, rects);
  for (const Label &label : labels)
    ui.write(ui.fonts.small, label.left + ui.unit() / 2,
             (row.top + row.bottom - ui.fonts.small->FontSize) / 2, theme.dim,
             ui.model->text(label.name), label.right - label.left - ui.unit());
}

} // namespace

void drawLanes(Ui &ui) {
  const ScreenRect &panel = ui.layout.lanes;
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  const ScreenRect plot = ui.plot(panel);
  ui.fill(panel, theme.panel);
  const auto &lanes = ui.model->dispatches().lanes();
  ui.semantics->add("lanes", "panel", panel, std::to_string(lanes.size()) + " lanes", theme.panel);
  const uint32_t hostRows = ui.model->hostSpans().empty() ? 0 : 1;
  const uint32_t rows =
      std::max<uint32_t>(1, std::min<uint32_t>(8, static_cast<uint32_t>(lanes.size()) + hostRows));
  const float height = (panel.height() - unit / 2) / static_cast<float>(rows);
  const float left = panel.left + 2 * unit;
  for (uint32_t i = 0; i < rows; ++i) {
    const ScreenRect row{plot.left, std::round(panel.top + height * static_cast<float>(i)),
                         plot.right, std::round(panel.top + height * static_cast<float>(i + 1))};
    const float y = (row.top + row.bottom - ui.fonts.small->FontSize) / 2;
    ui.pushClip(row);
    std::string name;
    if (i < lanes.size()) {
      drawLane(ui, i, row);
      name = "GPU lane " + std::to_string(lanes[i].number + 1);
    } else if (hostRows > 0) {
      drawHostRow(ui, row);
      name = "host";
    } else {
      name = "no dispatches";
    }
    ui.popClip();
    ui.write(ui.fonts.small, left, y, theme.dim, name, plot.left - left - unit,
             ("lanes/" + std::to_string(i)).c_str(), "label");
    if (i == 0 && !ui.model->devices().empty() && ui.model->devices()[0].hasClock)
      ui.write(ui.fonts.small, plot.right + unit, y, theme.dim,
               "clock ±" + timeText(static_cast<double>(ui.model->devices()[0].clockErrorNs)),
               panel.right - plot.right - unit, "lanes/clock_error");
  }
}

} // namespace gantry::profiler

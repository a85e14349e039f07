// Draws the lanes panel: the dispatches of each device in lanes without overlaps
// (dispatch_table.h), and one row for the host's spans.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"
#include "profiler_gui/panels/dispatch_columns.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// Min height of a row with a band in the colour of the operator's kind, in grid units
/// (Ui::unit()).
constexpr float kMinBandRow = 8;

/// Returns the text lines of a dispatch in order of importance.
std::vector<std::string> linesOf(const Ui &ui, const Dispatch &dispatch,
                                 const PlanCommand &command) {
  const CaptureModel &model = *ui.model;
  std::vector<std::string> lines = {ui.nameOf(command.name, "unnamed")};
  const auto length = static_cast<double>(dispatch.endNs - dispatch.beginNs);
  if (!dispatch.estimated) {
    std::string taken = timeText(length);
    if (command.flops > 0 && length > 0)
      taken += " · " + rateText(static_cast<double>(command.flops) / length, "GFLOP/s");
    lines.push_back(taken);
  }
  if (!dispatch.isCopy)
    lines.push_back(ui.nameOf(command.kernel, "unnamed kernel"));
  if (dispatch.sharedBytes > 0)
    lines.push_back(bytesText(dispatch.sharedBytes) + " shared");
  if (command.tile != 0)
    lines.push_back(std::string(model.text(command.tile)));
  return lines;
}

/// Writes lines into a box: horizontally if the box is wide enough, else only the first line,
/// turned to read upwards, if the box is high enough.
void writeInto(Ui &ui, const ScreenRect &box, const std::vector<std::string> &lines,
               uint32_t colour) {
  ImFont *font = ui.fonts.small;
  const float inset = ui.unit() / 2;
  const float step = font->FontSize + 3;
  if (box.width() >= 8 * ui.unit() ||
      (box.width() >= 5 * ui.unit() && box.height() < 8 * ui.unit())) {
    const auto maxLines = static_cast<size_t>(std::max(1.0f, (box.height() - inset) / step));
    const size_t count = std::min(lines.size(), maxLines);
    float y = count == 1 ? (box.top + box.bottom - font->FontSize) / 2 : box.top + inset;
    for (size_t i = 0; i < count; ++i, y += step)
      ui.write(font, box.left + inset, y, i == 0 ? colour : faded(colour, 0.75f), lines[i],
               box.width() - 2 * inset, "dispatch_label", "label");
  } else if (box.width() >= font->FontSize + 2 && box.height() >= 8 * ui.unit()) {
    ui.writeUpwards(font, (box.left + box.right - font->FontSize) / 2, box.bottom - 2 * ui.unit(),
                    colour, lines[0], box.height() - 3 * ui.unit(), "dispatch_label", "label");
  }
}

void drawLane(Ui &ui, size_t number, const ScreenRect &row) {
  const Theme &theme = *ui.theme;
  const CaptureModel &model = *ui.model;
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  const Lane &lane = model.dispatches().lanes()[number];
  const std::vector<DispatchColumn> &columns = columnsOf(ui, number);
  const uint32_t base = lane.number % 2 == 0 ? theme.dispatch : theme.secondDispatch;
  std::vector<std::pair<ScreenRect, uint32_t>> labels; // Rectangle and dispatch index.
  for (const DispatchColumn &column : columns) {
    const uint32_t index = lane.dispatches[column.first];
    const bool single = column.last == column.first + 1;
    const bool chosen =
        single && ui.selected.kind == Pick::Kind::kDispatch && ui.selected.dispatch == index;
    const bool dimmed = isDimmed(ui, column, lane);
    uint32_t colour = single ? base : faded(base, 0.75f);
    if (dimmed)
      colour = faded(colour, 0.25f);
    else if (ui.selected.kind == Pick::Kind::kDispatch && !chosen)
      colour = faded(colour, 0.5f);
    const ScreenRect box{column.left, row.top + 1, column.right, row.bottom - 1};
    rects.push_back({box.left, box.top, box.right, box.bottom, colour, kRectEdge});
    if (single && row.height() >= kMinBandRow * ui.unit()) { // The band shows the operator's kind.
      const PlanCommand *command = model.commandOf(model.dispatches()[index]);
      const uint32_t kind = theme.small(command != nullptr ? command->kind : OpKind::kOther);
      rects.push_back({box.left, box.bottom - ui.unit(), box.right, box.bottom,
                       faded(kind, static_cast<float>(colour >> 24) / 255.0f), kRectEdge});
    }
    if (chosen)
      rects.push_back(
          {box.left, box.top, box.right, box.bottom, theme.selection, kRectOutline | kRectBold});
    if (single && ui.semantics->wanted()) {
      const PlanCommand *command = model.commandOf(model.dispatches()[index]);
      ui.semantics->add("dispatch/" + std::to_string(index), "dispatch", box,
                        command != nullptr ? ui.nameOf(command->name, "") : "", colour);
    } else if (ui.semantics->wanted()) {
      ui.semantics->add("dispatches/" + std::to_string(index), "dispatches", box,
                        std::to_string(column.last - column.first) + " dispatches", colour);
    }
    if (ui.mouseInPlots && box.contains(ui.mouseX, ui.mouseY))
      ui.hovered = {Pick::Kind::kDispatch, 0, 0, index, 0};
    if (single && !dimmed)
      labels.emplace_back(ScreenRect{std::max(box.left, ui.layout.plotLeft), box.top,
                                     std::min(box.right, ui.layout.plotRight), box.bottom},
                          index);
  }
  ui.canvas->addRects(*ui.list, rects);
  for (const auto &[box, index] : labels) {
    const PlanCommand *command = model.commandOf(model.dispatches()[index]);
    if (command != nullptr && box.width() >= ui.fonts.small->FontSize + 2)
      writeInto(ui, box, linesOf(ui, model.dispatches()[index], *command), theme.onKind);
  }
}

/// Draws the outermost spans of all threads in one row.
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
    // Skips the spans that end within the pixels that are drawn already.
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
  // The host's row gets the height of one line of text, and the lanes share the remaining height.
  const float all = panel.height() - unit / 2;
  const bool hostShown = hostRows > 0 && lanes.size() < rows;
  const float hostHeight = hostShown ? std::min(3 * unit, all / static_cast<float>(rows)) : 0;
  const uint32_t deviceRows = std::max(1u, rows - (hostShown && rows > 1 ? 1 : 0));
  const float height = (all - (rows > 1 ? hostHeight : 0)) / static_cast<float>(deviceRows);
  const float left = panel.left + 2 * unit;
  for (uint32_t i = 0; i < rows; ++i) {
    const float top = panel.top + height * static_cast<float>(std::min(i, deviceRows));
    const ScreenRect row{plot.left, std::round(top), plot.right,
                         std::round(top + (i < deviceRows ? height : hostHeight))};
    const float y = (row.top + row.bottom - ui.fonts.small->FontSize) / 2;
    ui.pushClip(row);
    std::string name;
    if (i < lanes.size()) {
      drawLane(ui, i, row);
      name = (ui.model->modelled() ? "in program order" : "GPU lane ") +
             (ui.model->modelled() ? std::string() : std::to_string(lanes[i].number + 1));
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

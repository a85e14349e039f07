// Draws the table of operators. ProfilerWindow handles clicks: a click on a column head sorts, a
// click on a row selects the operator's longest dispatch. While two captures are compared, times
// are per run, and each row has the ratio of the second capture's time to the first one's.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

constexpr const char *kNone = "–";

struct Column {
  OperatorColumn column;
  const char *title;
  float units; // Width in grid units (Ui::unit()); 0: the remaining width.
};

constexpr Column kAlone[] = {
    {OperatorColumn::kName, "operator", 0}, {OperatorColumn::kTime, "time", 10},
    {OperatorColumn::kShare, "share", 17},  {OperatorColumn::kCalls, "calls", 8},
    {OperatorColumn::kBytes, "bytes", 11},  {OperatorColumn::kFlops, "GFLOP/s", 10},
    {OperatorColumn::kTraffic, "GB/s", 9},  {OperatorColumn::kShared, "shared", 10},
};
constexpr Column kCompared[] = {
    {OperatorColumn::kName, "operator", 0},      {OperatorColumn::kTime, "time per run", 11},
    {OperatorColumn::kSecondTime, "second", 10}, {OperatorColumn::kRatio, "ratio", 9},
    {OperatorColumn::kShare, "share", 13},       {OperatorColumn::kCalls, "calls", 8},
    {OperatorColumn::kBytes, "bytes", 10},       {OperatorColumn::kFlops, "GFLOP/s", 10},
    {OperatorColumn::kTraffic, "GB/s", 9},       {OperatorColumn::kShared, "shared", 10},
};

struct Drawing {
  Ui &ui;
  std::span<const Column> columns;
  double shareOf;  // The sum of all times of the first capture, which is 100 % in the share column.
  float rowHeight; // Pixels.
};

/// The right edges of the columns. The first column takes the remaining width.
std::vector<float> endsOf(const Drawing &drawing, const ScreenRect &panel) {
  const float unit = drawing.ui.unit();
  float others = 0;
  for (const Column &column : drawing.columns)
    others += column.units * unit;
  std::vector<float> ends;
  float x = panel.left + 2 * unit;
  for (const Column &column : drawing.columns) {
    x += column.units > 0 ? column.units * unit : panel.right - 2 * unit - x - others;
    ends.push_back(x);
  }
  return ends;
}

/// The last part of a cell's id in the description of the screen that tests read (semantics.h), for
/// example "time" or "second_time".
const char *idOf(OperatorColumn column) {
  switch (column) {
  case OperatorColumn::kName:
    return "name";
  case OperatorColumn::kTime:
    return "time";
  case OperatorColumn::kSecondTime:
    return "second_time";
  case OperatorColumn::kRatio:
    return "ratio";
  case OperatorColumn::kShare:
    return "share";
  case OperatorColumn::kCalls:
    return "calls";
  case OperatorColumn::kBytes:
    return "bytes";
  case OperatorColumn::kFlops:
    return "gflops";
  case OperatorColumn::kTraffic:
    return "gigabytes";
  case OperatorColumn::kShared:
    return "shared";
  }
  return "";
}

std::string numberText(double value) { return value > 0 ? rateText(value, "") : kNone; }

std::string percentText(double share) {
  const long tenths = std::lround(share * 1000);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

std::string cellText(const OperatorLine &line, OperatorColumn column, double shareOf) {
  const OperatorRow &row = line.any();
  switch (column) {
  case OperatorColumn::kName:
    return row.name;
  case OperatorColumn::kTime:
    return line.timeNs > 0 ? timeText(line.timeNs) : kNone;
  case OperatorColumn::kSecondTime:
    return line.secondTimeNs > 0 ? timeText(line.secondTimeNs) : kNone;
  case OperatorColumn::kRatio:
    return line.hasRatio() ? ratioText(line.ratio()) : kNone;
  case OperatorColumn::kShare:
    return line.timeNs > 0 && shareOf > 0 ? percentText(line.timeNs / shareOf) : kNone;
  case OperatorColumn::kCalls:
    return countText(row.calls);
  case OperatorColumn::kBytes:
    return row.bytes > 0 ? bytesText(static_cast<uint64_t>(row.bytes)) : kNone;
  case OperatorColumn::kFlops:
    return numberText(row.gflops());
  case OperatorColumn::kTraffic:
    return numberText(row.gigabytes());
  case OperatorColumn::kShared:
    return row.sharedBytes > 0 ? bytesText(row.sharedBytes) : kNone;
  }
  return "";
}

void drawHeads(const Drawing &drawing, const ScreenRect &head, const std::vector<float> &ends) {
  Ui &ui = drawing.ui;
  OperatorView &view = ui.operators;
  const float unit = ui.unit();
  ImFont *font = ui.fonts.small;
  const float y = (head.top + head.bottom - font->FontSize) / 2;
  float left = head.left + 2 * unit;
  for (size_t i = 0; i < drawing.columns.size(); ++i) {
    const Column &column = drawing.columns[i];
    const ScreenRect rect{left, head.top, ends[i], head.bottom};
    const bool chosen = view.sortedBy == column.column;
    const uint32_t colour = chosen ? ui.theme->text : ui.theme->dim;
    const std::string id = std::string("operators/head/") + idOf(column.column);
    const float width = Ui::widthOf(font, column.title);
    const float x = i == 0 ? left : ends[i] - width;
    ui.write(font, x, y, colour, column.title, 1e9f, (id + "/title").c_str(), "label");
    ui.semantics->add(id, "button", rect,
                      !chosen ? "sort" : (view.descending ? "descending" : "ascending"), colour);
    if (chosen) { // An arrow beside the title shows the sort direction.
      const float at = i == 0 ? x + width + unit : x - 1.25f * unit;
      const float middle = (head.top + head.bottom) / 2;
      const float up = view.descending ? -1.0f : 1.0f;
      ui.list->AddTriangleFilled({at - 4, middle + up * 2}, {at + 4, middle + up * 2},
                                 {at, middle - up * 3}, colour);
    }
    view.headers.push_back({rect, column.column});
    left = ends[i];
  }
  ui.lineY(head.bottom - 1, head.left, head.right, ui.theme->line);
}

/// The operator of the selected dispatch; "" if no dispatch is selected.
std::string_view chosenName(const Ui &ui) {
  if (ui.selected.kind != Pick::Kind::kDispatch)
    return {};
  const PlanCommand *command = ui.model->commandOf(ui.model->dispatches()[ui.selected.dispatch]);
  return command != nullptr ? ui.model->text(command->name) : std::string_view();
}

void drawRow(const Drawing &drawing, const OperatorLine &line, const ScreenRect &row, size_t number,
             const std::vector<float> &ends, bool chosen) {
  Ui &ui = drawing.ui;
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  const OperatorRow &shown = line.any();
  const bool hovered = row.contains(ui.mouseX, ui.mouseY);
  if (chosen || hovered)
    ui.fill(row, chosen ? faded(theme.accent, 0.28f) : theme.raised);
  const bool dimmed = ui.found.active() && !ui.found.hasName(shown.name);
  const uint32_t colour = dimmed ? faded(theme.text, 0.35f) : theme.text;
  const std::string id = "operators/row/" + std::to_string(number);
  ui.semantics->add(id, "row", row, shown.name, colour);

  float x = row.left + 2 * unit;
  const float size = 1.25f * unit;
  const float middle = (row.top + row.bottom) / 2;
  const WriterColours &writer = theme.writer(shown.kind);
  const float opacity = dimmed ? 0.35f : 1.0f;
  ui.fill({x, std::floor(middle - size / 2), x + size, std::floor(middle + size / 2)},
          faded(writer.edge, opacity));
  ui.fill(
      {x + 1, std::floor(middle - size / 2) + 1, x + size - 1, std::floor(middle + size / 2) - 1},
      faded(writer.fill, opacity));
  x += size + unit;
  ui.write(ui.fonts.text, x, middle - ui.fonts.text->FontSize / 2, colour, shown.name,
           ends[0] - x - unit, (id + "/name").c_str(), "label");
  const float y = middle - ui.fonts.numbers->FontSize / 2;
  for (size_t i = 1; i < drawing.columns.size(); ++i) {
    const OperatorColumn column = drawing.columns[i].column;
    const std::string text = cellText(line, column, drawing.shareOf);
    if (column == OperatorColumn::kShare && line.timeNs > 0 && drawing.shareOf > 0) {
      // Draws a bar to the left of the number.
      const float from = ends[i - 1] + 2 * unit;
      const float barWidth = ends[i] - 7 * unit - from;
      const float share = static_cast<float>(line.timeNs / drawing.shareOf);
      ui.fill({from, middle - 3, from + barWidth, middle + 3}, faded(theme.line, opacity));
      ui.fill({from, middle - 3, from + barWidth * share, middle + 3}, faded(theme.curve, opacity));
    }
    ui.writeRight(ui.fonts.numbers, ends[i], y, text == kNone ? theme.dim : colour, text,
                  (id + "/" + idOf(column)).c_str(), "text");
  }
  ui.operators.rows.push_back({row, shown.name});
}

void drawScrollBar(Ui &ui, const ScreenRect &body, float height) {
  if (height <= body.height())
    return;
  const float top = body.top + ui.operators.scroll / height * body.height();
  ui.fill(
      {body.right - ui.unit() / 2, top, body.right, top + body.height() * body.height() / height},
      ui.theme->line);
}

} // namespace

void drawOperatorTable(Ui &ui, Ui *second) {
  const ScreenRect &panel = ui.layout.operators;
  OperatorView &view = ui.operators;
  view.headers.clear();
  view.rows.clear();
  if (panel.height() <= 0)
    return;
  view.table.update(*ui.model);
  if (second != nullptr)
    second->operators.table.update(*second->model);
  const OperatorTables tables{&view.table, second != nullptr ? &second->operators.table : nullptr,
                              ui.model->timedRuns(),
                              second != nullptr ? second->model->timedRuns() : 0};
  const std::vector<OperatorLine> lines = operatorLines(tables, view.sortedBy, view.descending);
  Drawing drawing{ui, second != nullptr ? std::span<const Column>(kCompared) : kAlone, 0,
                  ui.fonts.text->FontSize + 0.75f * ui.unit()};
  for (const OperatorLine &line : lines)
    drawing.shareOf += line.timeNs;

  ui.fill(panel, ui.theme->panel);
  ui.lineY(panel.top, panel.left, panel.right, ui.theme->line);
  ui.semantics->add("operators", "panel", panel, countText(lines.size()) + " operators",
                    ui.theme->panel);
  const std::vector<float> ends = endsOf(drawing, panel);
  const ScreenRect head{panel.left, panel.top, panel.right, panel.top + 3 * ui.unit()};
  drawHeads(drawing, head, ends);
  const ScreenRect body{panel.left, head.bottom, panel.right, panel.bottom};
  if (lines.empty())
    ui.write(ui.fonts.text, panel.left + 2 * ui.unit(), body.top + ui.unit(), ui.theme->dim,
             "no dispatches in this capture", 1e9f, "operators/none");
  const float height = drawing.rowHeight * static_cast<float>(lines.size()) + ui.unit();
  view.scroll = std::clamp(view.scroll, 0.0f, std::max(0.0f, height - body.height()));
  std::string_view chosen = chosenName(ui);
  if (chosen.empty() && second != nullptr)
    chosen = chosenName(*second);
  ui.pushClip(body);
  for (size_t i = 0; i < lines.size(); ++i) {
    const float top =
        body.top + std::round(drawing.rowHeight * static_cast<float>(i) - view.scroll);
    const ScreenRect row{panel.left, top, panel.right, top + drawing.rowHeight};
    if (row.top < body.top - 0.5f * drawing.rowHeight || row.bottom > body.bottom)
      continue; // More than half of the row is above the body, or a part of it is below the body.
    drawRow(drawing, lines[i], row, i, ends, !chosen.empty() && chosen == lines[i].any().name);
  }
  ui.popClip();
  drawScrollBar(ui, body, height);
}

} // namespace gantry::profiler

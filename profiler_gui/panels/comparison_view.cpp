// Implements ComparisonView.
#include "profiler_gui/panels/comparison_view.h"

#include "profiler_gui/model/quantity_text.h"
#include "profiler_gui/panels/panels.h"

#include <algorithm>
#include <utility>

namespace gantry::profiler {
namespace {

double firstOf(const CaptureModel &model) {
  return static_cast<double>(std::min(model.firstNs(), model.nowNs()));
}

double lengthOf(const CaptureModel &model) {
  return static_cast<double>(model.nowNs()) - firstOf(model);
}

void drawCaption(Ui &ui, const Comparison &comparison, size_t side) {
  const ScreenRect &row = ui.layout.caption;
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  ui.fill(row, theme.raised);
  ui.lineY(row.top, row.left, row.right, theme.line);
  const float size = 1.25f * unit;
  const float middle = (row.top + row.bottom) / 2;
  float x = row.left + 2 * unit;
  ui.list->AddRectFilled({x, middle - size / 2}, {x + size, middle + size / 2},
                         side == 0 ? theme.curve : theme.second, 2);
  x += size + unit;
  const float y = middle - ui.fonts.text->FontSize / 2;
  x +=
      ui.write(ui.fonts.text, x, y, theme.text, ui.title, 60 * unit, "caption", "label") + 2 * unit;
  std::string text =
      ui.model->modelled() ? "modelled, never run" : countText(ui.model->runs().size()) + " runs";
  if (comparison.runNs[side] > 0 && !ui.model->modelled())
    text += " of " + timeText(comparison.runNs[side]);
  for (const ComparedMemory &heap : comparison.heaps)
    text += " · " + heap.name + " " + bytesText(heap.peakBytes[side]);
  ui.write(ui.fonts.small, x, middle - ui.fonts.small->FontSize / 2, theme.dim, text,
           std::max(0.0f, row.right - x - unit), "caption/numbers", "label");
}

} // namespace

ComparisonView::ComparisonView(std::unique_ptr<LoadedCapture> loaded, std::string title)
    : loaded_(std::move(loaded)) {
  ui_.model = &loaded_->model;
  ui_.title = std::move(title);
  ui_.findings = checkPlans(loaded_->model);
  ui_.strips.resize(loaded_->model.spaces().size());
}

void ComparisonView::compareWith(const CaptureModel &first) {
  comparison_ = compareCaptures(first, loaded_->model);
}

void ComparisonView::setBounds(Ui &first) {
  const double length = std::max(lengthOf(*first.model), lengthOf(*ui_.model));
  first.second = ui_.model;
  first.secondShiftNs = firstOf(*ui_.model) - firstOf(*first.model);
  first.time.setBounds(firstOf(*first.model), firstOf(*first.model) + length);
  ui_.time.setBounds(firstOf(*ui_.model), firstOf(*ui_.model) + length);
}

void ComparisonView::follow(Ui &first, float width, float height) {
  const ComparedLayout layout =
      makeComparedLayout(width, height, first.fonts.scale, first.focus, contentsOf(*first.model),
                         contentsOf(*ui_.model));
  first.layout = layout.first;
  ui_.layout = layout.second;
  ui_.canvas = first.canvas;
  ui_.semantics = first.semantics;
  ui_.theme = first.theme;
  ui_.themeName = first.themeName;
  ui_.fonts = first.fonts;
  ui_.focus = first.focus;
  ui_.detailBudget = first.detailBudget;
  ui_.stretch = first.stretch;
  ui_.list = first.list;
  ui_.mouseX = first.mouseX;
  ui_.mouseY = first.mouseY;
  ui_.mouseInPlots = first.mouseInPlots;
  ui_.hovered = Pick();
  ui_.laneColumns.clear();
  ui_.live = false;
  ui_.time.show(first.time.beginNs() + first.secondShiftNs,
                first.time.endNs() + first.secondShiftNs);
}

void ComparisonView::drawCaptions(Ui &first) {
  drawCaption(first, comparison_, 0);
  first.semantics->setPrefix("second/");
  drawCaption(ui_, comparison_, 1);
  first.semantics->setPrefix("");
}

void ComparisonView::draw(Ui &first) {
  first.semantics->setPrefix("second/");
  ui_.list = first.list;
  drawLanes(ui_);
  drawLifetimes(ui_);
  first.semantics->setPrefix("");
}

} // namespace gantry::profiler

// Draws the heap strips: the live bytes of each heap over time, in front of its reserved bytes,
// with a line for the budget.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// The device heap whose budget limits a heap: the first device-local one with a budget, else the
/// first one with a budget, else nullptr.
const DeviceHeap *budgetOf(const CaptureModel &model, const Heap &heap) {
  const DeviceHeap *best = nullptr;
  for (const DeviceHeap &candidate : model.deviceHeaps()) {
    if (candidate.device == heap.device && !candidate.budget.empty() &&
        (best == nullptr || (candidate.deviceLocal && !best->deviceLocal)))
      best = &candidate;
  }
  return best;
}

/// Converts bytes to y coordinates.
struct Scale {
  float bottom, height; // Pixels.
  double top;           // The bytes at the top of the plot.
  float y(uint64_t bytes) const {
    return bottom - static_cast<float>(static_cast<double>(bytes) / top) * height;
  }
};

/// Draws a filled curve. Each pixel column is filled up to the column's min value, and lighter
/// between its min and max.
void drawCurve(Ui &ui, const StepCurve &curve, const ScreenRect &plot, const Scale &scale,
               uint32_t colour) {
  if (curve.empty())
    return;
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  static thread_local std::vector<ValueRange> ranges;
  const std::vector<uint64_t> bounds = ui.columnBounds(std::floor(plot.left), plot.right, 0);
  curve.ranges(bounds, &ranges);
  float x = std::floor(plot.left) - 1;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const ValueRange &range = ranges[i];
    x += 1;
    if (range.high == 0 || bounds[i + 1] == 0 || bounds[i] > ui.model->nowNs())
      continue;
    const float low = scale.y(range.low);
    const float high = std::min(scale.y(range.high), low - 1);
    rects.push_back({x, low, x + 1, scale.bottom, colour, kRectPlain});
    rects.push_back(
        {x, high, x + 1, low, faded(colour, range.high > range.low ? 0.65f : 1.0f), kRectPlain});
  }
  ui.canvas->addRects(*ui.list, rects);
}

/// Returns the second capture's heap that is compared with `heap`: the n-th heap of a name is
/// compared with the n-th. nullptr if there is none or only one capture is shown.
const Heap *counterpart(const Ui &ui, const Heap &heap) {
  if (ui.second == nullptr)
    return nullptr;
  size_t number = 0;
  for (const Heap &each : ui.model->heaps()) {
    if (&each == &heap)
      break;
    number += ui.model->text(each.name) == ui.model->text(heap.name);
  }
  for (const Heap &each : ui.second->heaps()) {
    if (ui.second->text(each.name) == ui.model->text(heap.name) && number-- == 0)
      return &each;
  }
  return nullptr;
}

/// Draws the second capture's curve as a line, so that the first one's filled curve stays visible.
void drawSecondCurve(Ui &ui, const StepCurve &curve, const ScreenRect &plot, const Scale &scale) {
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  static thread_local std::vector<ValueRange> ranges;
  const std::vector<uint64_t> bounds =
      ui.columnBounds(std::floor(plot.left), plot.right, ui.secondShiftNs);
  curve.ranges(bounds, &ranges);
  float x = std::floor(plot.left) - 1;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const ValueRange &range = ranges[i];
    x += 1;
    if (bounds[i + 1] == 0 || bounds[i] > ui.second->nowNs())
      continue;
    const float low = std::floor(scale.y(range.low));
    rects.push_back({x, std::min(std::floor(scale.y(range.high)), low) - 1, x + 1, low + 1,
                     ui.theme->second, kRectPlain});
  }
  ui.canvas->addRects(*ui.list, rects);
}

/// Draws an arrow at the top edge for a budget that is too far above the curves to be in the plot.
void drawBudgetAbove(Ui &ui, uint64_t limit, const ScreenRect &strip, const std::string &id) {
  const float unit = ui.unit();
  const ScreenRect plot = ui.plot(strip);
  const uint32_t colour = ui.theme->warning;
  const ScreenRect arrow{plot.right - 2 * unit, strip.top + 2, plot.right - unit / 2,
                         strip.top + 2 + 1.25f * unit};
  const float middle = (arrow.left + arrow.right) / 2;
  ui.list->AddTriangleFilled({middle, arrow.top}, {arrow.left, arrow.bottom},
                             {arrow.right, arrow.bottom}, colour);
  ui.semantics->add(id + "/budget", "arrow", arrow, bytesText(limit), colour);
  ui.write(ui.fonts.small, plot.right + unit, strip.top + unit / 4, colour,
           "budget " + bytesText(limit), strip.right - plot.right - unit,
           (id + "/budget_label").c_str(), "label");
}

void drawHeap(Ui &ui, const Heap &heap, const ScreenRect &strip, uint32_t number) {
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  const ScreenRect plot = ui.plot(strip);
  const std::string id = "heap/" + std::to_string(heap.id);
  const DeviceHeap *budget = budgetOf(*ui.model, heap);
  const uint64_t limit = budget != nullptr ? budget->budget.last() : 0;
  const Heap *second = counterpart(ui, heap);
  const uint64_t secondPeak = second != nullptr ? second->live.peak() : 0;
  const uint64_t peak = std::max({heap.live.peak(), heap.reserved.peak(), secondPeak, uint64_t{1}});
  // A budget of more than four times the peak is not in the plot: the curve would be too flat.
  const bool budgetFits = limit > 0 && limit <= peak * 4;
  Scale scale{plot.bottom - 1, plot.height() - 1.5f * unit,
              static_cast<double>(budgetFits ? std::max(peak, limit) : peak)};
  ui.semantics->add(id, "panel", strip, ui.nameOf(heap.name, "heap"), theme.panel);

  ui.pushClip(plot);
  drawCurve(ui, heap.reserved, plot, scale, theme.reserved);
  drawCurve(ui, heap.live, plot, scale, theme.curve);
  if (second != nullptr)
    drawSecondCurve(ui, second->live, plot, scale);
  ui.popClip();
  if (budgetFits) {
    const float y = scale.y(limit);
    const bool over = heap.reserved.peak() > limit;
    const uint32_t colour = over ? theme.over : theme.warning;
    ui.lineY(y, plot.left, plot.right, colour);
    ui.semantics->add(id + "/budget", "line", {plot.left, y, plot.right, y + 1}, bytesText(limit),
                      colour);
    ui.write(ui.fonts.small, plot.right + unit, y - ui.fonts.small->FontSize / 2, colour,
             "budget " + bytesText(limit), strip.right - plot.right - unit,
             (id + "/budget_label").c_str(), "label");
  }
  const bool budgetAbove = limit > 0 && !budgetFits;
  if (budgetAbove)
    drawBudgetAbove(ui, limit, strip, id);
  const uint64_t atView = heap.live.at(static_cast<uint64_t>(
      std::clamp(ui.time.endNs(), 0.0, static_cast<double>(ui.model->nowNs()))));
  const float left = strip.left + 2 * unit;
  const float maxWidth = plot.left - left - unit;
  float y = strip.top + unit / 2;
  ui.write(ui.fonts.text, left, y, theme.text,
           ui.nameOf(heap.name, ("heap " + std::to_string(number)).c_str()), maxWidth,
           (id + "/name").c_str(), "label");
  y += ui.fonts.text->FontSize + unit / 4;
  const bool atEnd = !ui.live && ui.time.endNs() >= static_cast<double>(ui.model->nowNs());
  ui.write(ui.fonts.numbers, left, y, theme.dim,
           "live " + bytesText(atView) + (atEnd ? " at the end" : ""), maxWidth,
           (id + "/live").c_str());
  y += ui.fonts.numbers->FontSize + unit / 4;
  if (y + ui.fonts.numbers->FontSize <= strip.bottom)
    ui.write(ui.fonts.numbers, left, y, theme.dim, "peak " + bytesText(heap.live.peak()), maxWidth,
             (id + "/peak").c_str());
  y += ui.fonts.numbers->FontSize + unit / 4;
  if (second != nullptr && y + ui.fonts.numbers->FontSize <= strip.bottom)
    ui.write(ui.fonts.numbers, left, y, theme.second, "peak " + bytesText(secondPeak), maxWidth,
             (id + "/second_peak").c_str());
  const float font = ui.fonts.small->FontSize;
  float top = scale.y(peak) - font / 2;
  if (budgetAbove) // Leaves space for the budget's label above.
    top = std::max(top, strip.top + unit / 2 + font + 2);
  if (!budgetFits || std::abs(scale.y(peak) - scale.y(limit)) > font + 2)
    ui.write(ui.fonts.small, plot.right + unit, top, theme.dim, bytesText(peak),
             strip.right - plot.right - unit, (id + "/top").c_str(), "label");
}

} // namespace

void drawHeapStrips(Ui &ui) {
  const ScreenRect &panel = ui.layout.heap;
  ui.fill(panel, ui.theme->background);
  const std::vector<const Heap *> heaps = ui.model->heapsInUse();
  ui.semantics->add("heap_strips", "panel", panel, std::to_string(heaps.size()) + " heaps",
                    ui.theme->background);
  if (heaps.empty()) {
    ui.write(ui.fonts.small, panel.left + 2 * ui.unit(),
             (panel.top + panel.bottom - ui.fonts.small->FontSize) / 2, ui.theme->dim,
             ui.model->modelled() ? "no heap: an artifact that was never run"
                                  : "no heap in this capture",
             1e9f, "heap_strips/none");
    return;
  }
  const size_t shown = std::min<size_t>(heaps.size(), 3);
  const float height = panel.height() / static_cast<float>(shown);
  for (size_t i = 0; i < shown; ++i) {
    const float top = std::round(panel.top + height * static_cast<float>(i));
    const float bottom = std::round(panel.top + height * static_cast<float>(i + 1));
    drawHeap(ui, *heaps[i], {panel.left, top, panel.right, bottom}, static_cast<uint32_t>(i + 1));
    ui.lineY(bottom - 1, panel.left, panel.right, ui.theme->line);
  }
}

} // namespace gantry::profiler

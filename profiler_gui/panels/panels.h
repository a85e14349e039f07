// The panels, one per file. Each draws itself into its rectangle of the layout and notes in Ui what
// the pointer is over. Drawing changes nothing of the model.
#pragma once

#include "profiler_gui/panels/comparison_view.h"
#include "profiler_gui/panels/ui.h"

#include <string>
#include <vector>

namespace gantry::profiler {

/// What the layout has to make room for.
Contents contentsOf(const CaptureModel &model);

void drawTopBar(Ui &ui);
void drawHeapStrips(Ui &ui); // live bytes, slabs and budget of each heap
void drawTimeAxis(Ui &ui);
void drawMinimap(Ui &ui); // the whole capture, and the view in it
/// Places the address spaces, then draws them: blocks, plan outlines, what differs.
void drawLifetimes(Ui &ui);
void drawSharedBars(Ui &ui); // shared memory of each dispatch, and the device's limit
void drawLanes(Ui &ui);      // dispatches by device, and the host's spans
/// Comparing, `comparison` is shown where nothing is selected, else nullptr.
void drawInspector(Ui &ui, const ComparisonView *comparison);
void drawStatusBar(Ui &ui);
void drawTooltip(Ui &ui);
/// Markers, the selected range, and the line under the pointer, over all plots.
void drawTimeMarks(Ui &ui);

void drawLegend(Ui &ui, const ScreenRect &place); // Explains the colours.
/// How high the legend of what occurs is; 0 where nothing does.
float legendHeight(Ui &ui);
/// The operators of the capture, or of both that are compared, one a row.
void drawOperatorTable(Ui &ui, Ui *second);

/// The ticks of the time axis: 1, 2 or 5 times a power of ten apart.
struct AxisTick {
  double ns = 0;
  std::string text;
  bool major = false; // A major tick keeps its label where labels collide.
};
struct AxisTicks {
  std::string base; // Text for the labels' origin or unit.
  std::vector<AxisTick> ticks;
};
AxisTicks axisTicks(const Ui &ui);

/// The plan entries that are linked to a pick: what its operators read and write.
std::unordered_set<uint32_t> relatedEntries(const CaptureModel &model, const Pick &pick);

} // namespace gantry::profiler

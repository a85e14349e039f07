// The panels, one per file. Each draw function draws its panel into its rectangle of ui.layout, and
// sets ui.hovered if the pointer is over a block or dispatch. No panel changes the model.
//
// Call them between ImGui::NewFrame() and ImGui::Render(). Threads: the user interface's thread.
#pragma once

#include "profiler_gui/panels/comparison_view.h"
#include "profiler_gui/panels/ui.h"

#include <string>
#include <vector>

namespace gantry::profiler {

/// Returns the properties of a capture that decide the sizes of the panels.
Contents contentsOf(const CaptureModel &model);

void drawTopBar(Ui &ui);
/// The live bytes, reserved bytes and budget of each heap over time.
void drawHeapStrips(Ui &ui);
void drawTimeAxis(Ui &ui);
/// The live bytes of the whole capture, and the position of the view in it.
void drawMinimap(Ui &ui);
/// The blocks of all address spaces over time, the plan's outlines, and differences from the plan.
void drawLifetimes(Ui &ui);
/// The shared memory of each dispatch, and the device's limit.
void drawSharedBars(Ui &ui);
/// The dispatches of each device, and the host's spans.
void drawLanes(Ui &ui);
/// Details of the selection. If nothing is selected, `comparison` is shown or, if that is nullptr,
/// a summary of the capture.
void drawInspector(Ui &ui, const ComparisonView *comparison);
void drawStatusBar(Ui &ui);
/// Up to four lines about the hovered block or dispatch.
void drawTooltip(Ui &ui);
/// Markers, the selected range, and the pointer's line, across all plots.
void drawTimeMarks(Ui &ui);

/// The colours that occur in the capture, with their meanings.
void drawLegend(Ui &ui, const ScreenRect &place);
/// The legend's height in pixels; 0 if no colour occurs.
float legendHeight(Ui &ui);
/// One row per operator of the capture, or of both captures if `second` is not nullptr.
void drawOperatorTable(Ui &ui, Ui *second);

/// One tick of the time axis. Ticks are 1, 2 or 5 times a power of ten apart.
struct AxisTick {
  double ns = 0;
  std::string text;
  bool major = false; // The label is kept when labels collide.
};
struct AxisTicks {
  std::string base; // The origin or unit of the labels: "time", "from 9.641 s".
  std::vector<AxisTick> ticks;
};
/// The ticks of the current view.
AxisTicks axisTicks(const Ui &ui);

/// Returns plan entries, as indices in CaptureModel::planEntries(). For a dispatch: the values that
/// it reads and writes. For a block: the values that are read and written by the commands that
/// access the block's value.
std::unordered_set<uint32_t> relatedEntries(const CaptureModel &model, const Pick &pick);

} // namespace gantry::profiler

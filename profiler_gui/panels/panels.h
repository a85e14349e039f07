// The panels, the parts of the profiler's window, one per file. Each draw function draws its panel
// into its rectangle of ui.layout, and sets ui.hovered if the pointer is over a block or dispatch.
// No panel changes the model, the data of the capture.
//
// A block is a range of addresses with a lifetime, in one of two kinds of address spaces. A slab is
// an allocation that a heap has made from the driver; its blocks are the heap's buffers. An arena
// is the memory of a session, a program that is bound to a device; its blocks are transients,
// values that exist only during a run. A plan, made before the run, gives each transient an offset
// in the arena. A dispatch is one kernel launch of a run. A column is one or more dispatches of a
// lane, a list of dispatches of one device that do not overlap in time, that are drawn as one
// rectangle (dispatch_columns.h).
//
// Call the draw functions between ImGui::NewFrame() and ImGui::Render(). Threads: the user
// interface's thread.
#pragma once

#include "profiler_gui/panels/comparison_view.h"
#include "profiler_gui/panels/ui.h"

#include <string>
#include <vector>

namespace gantry::profiler {

/// Returns the properties of a capture that decide the sizes of the panels.
Contents contentsOf(const CaptureModel &model);

void drawTopBar(Ui &ui);
/// For each heap over time: the live bytes, the reserved bytes (those of its slabs), and the budget
/// that the driver reports.
void drawHeapStrips(Ui &ui);
void drawTimeAxis(Ui &ui);
/// The live bytes over the whole capture, and the part of it that the plots show.
void drawMinimap(Ui &ui);
/// The blocks of all address spaces over time, outlines of the places that plans gave to
/// transients, and marks on the differences from the plans (plan_check.h).
void drawLifetimes(Ui &ui);
/// The shared memory of each dispatch, and the device's limit.
void drawSharedBars(Ui &ui);
/// The dispatches of each device, and the host's spans, which are named intervals of a thread's
/// work.
void drawLanes(Ui &ui);
/// Details of the selection. If nothing is selected, `comparison` is shown or, if that is nullptr,
/// a summary of the capture.
void drawInspector(Ui &ui, const ComparisonView *comparison);
void drawStatusBar(Ui &ui);
/// Up to four lines about the hovered block or dispatch.
void drawTooltip(Ui &ui);
/// Vertical lines across all plots: the user's markers, the selected range, and the pointer's time.
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
  /// The text before the labels. "time" if they count from the capture's start, else the time from
  /// which they count, for example "from 9.641 s". For an artifact that was never run, the labels
  /// are numbers of commands, and the text says so.
  std::string base;
  std::vector<AxisTick> ticks;
};
/// The ticks of the current view.
AxisTicks axisTicks(const Ui &ui);

/// Returns the values that are related to a block or dispatch through the commands of its plan, as
/// indices in CaptureModel::planEntries(). For a dispatch: the values that it reads or writes. For
/// a block: all values that are read or written by a command that accesses the block's value.
std::unordered_set<uint32_t> relatedEntries(const CaptureModel &model, const Pick &pick);

} // namespace gantry::profiler

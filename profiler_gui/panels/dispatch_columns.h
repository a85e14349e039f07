// Dispatches of a lane as columns of pixels: one item for each that is wide enough, and one for
// each group that falls into a pixel. What a plot of dispatches draws, however many there are.
#pragma once

#include "profiler_gui/panels/ui.h"

namespace gantry::profiler {

/// Of the lane with this number, in the order of time; at most about two per pixel of the plot.
/// Made once a frame.
const std::vector<DispatchColumn> &columnsOf(Ui &ui, size_t number);

/// Whether a search is on and no dispatch of the column is what it looks for.
bool stepsBack(const Ui &ui, const DispatchColumn &column, const Lane &lane);

} // namespace gantry::profiler

// Groups the dispatches of a lane into columns, so that the plot's width bounds the cost of
// drawing: one column for each dispatch that is at least two pixels wide, and one for each group of
// narrower dispatches that begin in the same pixel.
//
// Threads: the user interface's thread.
#pragma once

#include "profiler_gui/panels/ui.h"

namespace gantry::profiler {

/// The columns of a lane in order of time, at most about two per pixel of the plot. `number` is an
/// index in DispatchTable::lanes(). Computed once per frame and kept in ui.laneColumns.
const std::vector<DispatchColumn> &columnsOf(Ui &ui, size_t number);

/// Whether a search is active and matches no dispatch of the column. Such columns are drawn faded.
bool isDimmed(const Ui &ui, const DispatchColumn &column, const Lane &lane);

} // namespace gantry::profiler

// Groups the dispatches of a lane (kernel launches of one device that do not overlap in time) into
// columns, so that the plot's width bounds the cost of drawing. Each dispatch that is at least two
// pixels wide has a column of its own. Narrower dispatches that begin in the same pixel share one.
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

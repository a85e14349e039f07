// Dispatches of a lane as columns of pixels: one item for each that is wide enough, and one for
// each group that falls into a pixel. What a plot of dispatches draws, however many there are.
#pragma once

#include "profiler_gui/panels/ui.h"

namespace gantry::profiler {

struct DispatchColumn {
  float left = 0, right = 0;
  uint32_t first = 0; // positions in the lane
  uint32_t last = 0;  // exclusive; first + 1 where it is a single one
};

/// In the order of time; at most about two per pixel of the plot.
void collectColumns(const Ui &ui, const Lane &lane, std::vector<DispatchColumn> *columns);

} // namespace gantry::profiler

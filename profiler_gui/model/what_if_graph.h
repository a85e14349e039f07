// A plan of a capture as the planner's graph: operators, and the values that they read and write.
// Internal to what_if.
//
// Values of the graph are versions: a value that is written again begins a new one, which may take
// the storage of the old one, and whose writer comes after all readers of the old one (each of them
// writes a token of no bytes, which that writer reads). Only transients have bytes.
//
// Threads: values.
#pragma once

#include "engine/plan/budget.h"
#include "engine/plan/plan.h"
#include "profiler_gui/model/what_if.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::profiler {

struct WhatIfGraph {
  WhatIfGraph(const CaptureModel &model, uint32_t plan);

  plan::OrderProblem problem;
  std::vector<uint32_t> entries; // per value: index in planEntries(); UINT32_MAX: token, unknown
  std::vector<bool> repeatable;  // per operator: running it once more later gives the same
};

/// One stay of a graph's value in the arena.
struct Stay {
  uint32_t value = 0;
  uint32_t firstUse = 0; // positions in the order
  uint32_t lastUse = 0;
};

/// Each value's single stay when the operators run in this order. Values without bytes have none.
std::vector<Stay> staysOf(const WhatIfGraph &graph, const std::vector<uint32_t> &order);

/// Plans the stays; where an operator's result may take an operand's storage, it does. Fills
/// arenaBytes, lowerBoundBytes and places.
Status planStays(const WhatIfGraph &graph, const std::vector<uint32_t> &order,
                 const std::vector<Stay> &stays, WhatIf *answer);

} // namespace gantry::profiler

// What changed between two compilations of a model: `gantry inspect NEW --compare OLD`.
// Threads: pure functions.
#pragma once

#include "tools/gantry/description.h"

#include <string>
#include <vector>

namespace gantry::tool {

struct PlanChange {
  std::string what;        // "arena", "tensor /features/3/Conv_output_0", "operator Conv_3"
  std::string before, now; // as text with units; "-" where it is not there
  int64_t growth = 0;      // bytes (of figures in bytes); 0 for everything else
};

/// First the figures of the whole (all of them, changed or not), then tensors of the arena that
/// grew, shrank, came or went, by name, and commands that came or went; the largest growth first.
struct PlanComparison {
  std::vector<PlanChange> figures, tensors, commands;
  bool reordered = false; // the same commands in another order
  bool grew = false;      // the arena or the constants take more than before
};
PlanComparison comparePlans(const Description &before, const Description &now);

} // namespace gantry::tool

// Lists what changed between two compilations of a model, for `gantry inspect NEW --compare OLD`.
// Threads: pure functions.
#pragma once

#include "tools/gantry/io/description.h"

#include <string>
#include <vector>

namespace gantry::tool {

struct PlanChange {
  std::string what;        // "arena", "/features/3/Conv_output_0" (a tensor), "Conv_3" (a command)
  std::string before, now; // Text with units; "-" if it does not exist.
  int64_t growth = 0;      // Growth in bytes for figures in bytes; else 0.
};

/// The rows of the comparison: the figures of the whole program (the sizes of arena, lower bound
/// and constants, and the numbers of commands, kernels and stages); the tensors of the arena (by
/// name) that grew, shrank, appeared or disappeared, the largest growth first; and the commands (by
/// name) whose number changed, in alphabetical order, with commands that disappeared at the end.
struct PlanComparison {
  std::vector<PlanChange> figures, tensors, commands;
  bool reordered = false; // The commands are the same, but in another order.
  bool grew = false;      // The arena or the constants take more bytes than before.
};
PlanComparison comparePlans(const Description &before, const Description &now);

} // namespace gantry::tool

// Lists what changed between two compilations of a model, for `gantry inspect NEW --compare OLD`.
// The arena is the memory of the tensors that exist only during a run; its lower bound is the
// largest sum of the sizes of tensors that are alive at one command; a stage consists of the
// commands between two barriers. Threads: pure functions.
#pragma once

#include "tools/gantry/io/description.h"

#include <string>
#include <vector>

namespace gantry::tool {

struct PlanChange {
  std::string what;        // "arena", "/features/3/Conv_output_0" (a tensor), "Conv_3" (a command)
  std::string before, now; // Text with units; "-" if `what` does not exist in that compilation.
  int64_t growth = 0;      // Growth in bytes; 0 for a row whose figures are not in bytes.
};

/// The rows of the comparison: the figures of the whole program (the sizes of arena, lower bound
/// and constants, and the numbers of commands, kernels and stages); the tensors of the arena (by
/// name) that grew, shrank, appeared or disappeared, the largest growth first; and the commands (by
/// name) whose number changed, in alphabetical order, with commands that disappeared at the end.
struct PlanComparison {
  std::vector<PlanChange> figures, tensors, commands;
  bool reordered = false; // Whether the commands are the same, but in another order.
  bool grew = false;      // Whether the arena or the constants take more bytes than before.
};
PlanComparison comparePlans(const Description &before, const Description &now);

} // namespace gantry::tool

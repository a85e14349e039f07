// Measures what a memory budget costs in time. Two sessions of one model, one compiled within the
// budget and one without, run in turns on one device.
//
// One thread.
#pragma once

#include "tools/gantry/runtime/model.h"

#include <string>

namespace gantry::tool {

struct BudgetCost {
  std::string device;
  double withNs = 0, withoutNs = 0; // Medians of whole runs.
  double slowdown = 1;              // Median of the ratios with ÷ without of paired runs.
  size_t runs = 0;                  // Runs of each session.
};

/// Compiles `model` again without the budget of `request` and measures it beside `fitted`, the path
/// of its artifact within the budget: one to two seconds, at least five runs of each. Inputs are
/// random. Throws ToolError, also if the device cannot run the request's profile.
BudgetCost measureBudget(const std::string &model, const std::string &fitted,
                         CompileRequest request);

/// Returns "1.13 x the time without it (4.60 ms against 4.07 ms, 37 runs of each on llvmpipe)".
std::string costText(const BudgetCost &cost);

} // namespace gantry::tool

// What a memory budget costs in time: two sessions of one model, one compiled within the budget and
// one without, run in turns on one device.
//
// One thread.
#pragma once

#include "tools/gantry/model.h"

#include <string>

namespace gantry::tool {

struct BudgetCost {
  std::string device;
  double withNs = 0, withoutNs = 0; // medians of whole runs
  double slowdown = 1;              // the median of with ÷ without, run by run
  size_t runs = 0;                  // of each
};

/// Compiles `model` once more, without the budget of `request`, and measures it beside `fitted`,
/// its artifact within the budget, for a second or two, at least five runs of each. Inputs are
/// random. Throws ToolError, also where the device cannot run the request's profile.
BudgetCost measureBudget(const std::string &model, const std::string &fitted,
                         CompileRequest request);

/// "1.13 x the time without it (4.60 ms against 4.07 ms, 37 runs of each on llvmpipe)".
std::string costText(const BudgetCost &cost);

} // namespace gantry::tool

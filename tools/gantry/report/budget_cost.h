// Measures the slowdown that a memory budget causes. A budget is a limit on the memory of a model's
// intermediate tensors; to stay within it, the compiler computes tensors again or moves them to the
// host. Two compilations of one model, with the budget and without it, run in turns on one device.
//
// Threads: one thread at a time.
#pragma once

#include "tools/gantry/runtime/model.h"

#include <string>

namespace gantry::tool {

struct BudgetCost {
  std::string device;
  // Median time of a run of the whole model on the host's clock, with the budget and without it.
  double withNs = 0, withoutNs = 0;
  double slowdown = 1; // Median over pairs of runs: time with ÷ time without budget.
  size_t runs = 0;     // Measured runs of each compilation.
};

/// Compiles `model` again without the budget of `request`, and measures it in turns with the
/// artifact (compiled model) at the path `fitted`, which was compiled with the budget. The
/// measurement ends when 1.5 seconds have passed and each of the two has run five times. Inputs are
/// random. Throws ToolError if the model cannot be compiled, loaded or run, for example because the
/// default device cannot run the request's profiles.
BudgetCost measureBudget(const std::string &model, const std::string &fitted,
                         CompileRequest request);

/// Returns a text such as "1.13 x the time without a budget (4.60 ms instead of 4.07 ms, 37 runs of
/// each on llvmpipe)".
std::string costText(const BudgetCost &cost);

} // namespace gantry::tool

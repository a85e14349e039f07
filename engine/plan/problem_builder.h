// Builds the solvers' Problem from the values of a request.
//
// Each value that has bytes becomes an item; the items keep the order of the values. A value
// without bytes has no item.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/plan.h"
#include "engine/plan/problem.h"

namespace gantry::plan {

inline constexpr uint32_t kNoItem = UINT32_MAX;

struct BuiltProblem {
  Problem problem;
  std::vector<uint32_t> itemOfValue; // kNoItem for a value without bytes.
  uint32_t peakCommand = 0;          // The first command of the problem's peak step.
};

/// Builds the problem of a request that checkRequest() accepts.
BuiltProblem buildProblem(const std::vector<Value> &values);

} // namespace gantry::plan

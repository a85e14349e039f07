// Builds the solvers' Problem from the values and pins of a request.
//
// A value that has bytes becomes an item, in the order of the values; a value without bytes becomes
// nothing.
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

/// checkRequest must have passed. Returns kInvalidArgument, with the two values, where pinned
/// values overlap.
Result<BuiltProblem> buildProblem(const std::vector<Value> &values, const std::vector<Pin> &pins);

} // namespace gantry::plan

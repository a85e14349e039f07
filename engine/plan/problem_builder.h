// Makes the solvers' Problem from the caller's values and constraints, and checks both.
//
// Values that share storage become one item: their sizes differ over time, so it has segments; so
// has a value with gaps. Zones become obstacles. Several arenas become one range of addresses with
// borders. Values of no bytes become nothing.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/plan.h"
#include "engine/plan/problem.h"

namespace gantry::plan {

inline constexpr uint32_t kNoItem = UINT32_MAX;

struct BuiltProblem {
  Problem problem;
  std::vector<uint32_t> itemOfValue; // kNoItem: it has no bytes
  uint64_t peakCommand = 0;          // the first command of the problem's peak step
};

/// kInvalidArgument with the value and the remedy where something is wrong.
Status checkRequest(const std::vector<Value> &values, const Constraints &constraints);

/// The problem in which the required sharings and those of `chosen` (indices into
/// constraints.sharings) are made. checkRequest must have passed. Fails with kInvalidArgument where
/// the sharings cannot all be made: two members of a group are alive at once and no sharing names
/// them, or have different pins; or where pins and zones overlap.
Result<BuiltProblem> buildProblem(const std::vector<Value> &values, const Constraints &constraints,
                                  const std::vector<uint32_t> &chosen);

} // namespace gantry::plan

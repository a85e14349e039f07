// Computes the minimum height of a small request to the planner by exhaustive search.
// optimum_test.cpp compares the planner's plans with it. The search shares no code with the
// planner.
//
// The search tries every order of the values by ascending offset. It places each value at 0 or at
// the end of a placed value, rounded up to an alignment. Some placement of minimum height is among
// these, because every value of a placement can be pushed down until it rests on another one. The
// time grows exponentially: about eight values are feasible, or twelve if few are alive together.
#pragma once

#include "engine/plan/plan.h"

namespace gantry::plan {

/// Returns the minimum height in bytes. Sizes count rounded up to the smallest alignment of the
/// request.
uint64_t minHeight(const std::vector<Value> &values);

} // namespace gantry::plan

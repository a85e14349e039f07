// Checks a caller's planning request before a problem is built from it.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/plan.h"

namespace gantry::plan {

/// Returns kInvalidArgument, with the value and the numbers, where a value or a pin is invalid by
/// itself (plan.h says when). Pins that overlap each other are left to buildProblem.
Status checkRequest(const std::vector<Value> &values, const std::vector<Pin> &pins);

} // namespace gantry::plan

// Checks a caller's planning request before a problem is built from it.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/plan.h"

namespace gantry::plan {

/// Returns kInvalidArgument, with the value and the numbers, where a value is invalid; the comment
/// of planArena() lists the cases.
Status checkRequest(const std::vector<Value> &values);

} // namespace gantry::plan

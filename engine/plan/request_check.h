// Checks the values of a caller's planning request before a problem is built from them.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/plan.h"

namespace gantry::plan {

/// Returns kInvalidArgument if a value is invalid; the comment of planArena() lists the cases. The
/// message has the value's index and the numbers that are wrong.
Status checkRequest(const std::vector<Value> &values);

} // namespace gantry::plan

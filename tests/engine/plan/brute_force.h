// The minimum height of a small request, found by trying everything: the judge of the solvers.
//
// The search places values in every order by ascending offset, each at every offset at which it
// could rest: at the bottom or on top of a value below it. Some placement of minimum height is
// among these, because everything in it can be pushed down. It shares no code with the planner.
// Time grows exponentially: about eight values, or twelve of which few are alive together.
#pragma once

#include "engine/plan/plan.h"

#include <optional>

namespace gantry::plan {

/// Returns nothing where the pins leave no placement.
std::optional<uint64_t> minHeight(const std::vector<Value> &values,
                                  const std::vector<Pin> &pins = {});

} // namespace gantry::plan

// The least height of a small request, by trying everything: what the solvers are judged by.
//
// Values are placed in every order by ascending offset, each at every offset at which it could
// rest: at the bottom, on top of what lies below it or of a zone, or at the offset of a value that
// it may share with. Some placement of least height is among these, since everything in it can be
// pushed down. Shares no code with the planner. One arena. Exponential: some eight values, twelve
// where few live at one time.
#pragma once

#include "engine/plan/plan.h"

#include <optional>

namespace gantry::plan {

/// Nothing where the constraints leave no placement lower than `below`.
std::optional<uint64_t> leastHeight(const std::vector<Value> &values,
                                    const Constraints &constraints = {},
                                    uint64_t below = UINT64_MAX);

} // namespace gantry::plan

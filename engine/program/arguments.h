// The checks of what a caller brings to a run, besides shapes (shapes.h): memory, capacities,
// overlaps. Threads: pure functions.
#pragma once

#include "engine/program/session.h"

namespace gantry::program {

/// kInvalidArgument names the port, the wrong number and what is needed. The inputs' shapes have
/// been checked before.
Status checkArguments(const Program &program, std::span<const TensorArgument> inputs,
                      std::span<const TensorArgument> outputs,
                      std::span<const OutputShape> outputShapes);

} // namespace gantry::program

// The checks of the inputs and outputs of a run, except their shapes (shapes.h): memory,
// capacities, overlaps. Sizes are in bytes. Threads: pure functions.
#pragma once

#include "engine/program/session.h"

namespace gantry::program {

/// Returns kInvalidArgument, with the port, the offending value and the valid one, if the number of
/// outputs is wrong, memory is missing or too small, or an output overlaps another argument. The
/// shapes of the inputs must have been checked before.
Status checkArguments(const Program &program, std::span<const TensorArgument> inputs,
                      std::span<const TensorArgument> outputs,
                      std::span<const OutputShape> outputShapes);

} // namespace gantry::program

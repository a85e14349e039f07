// Checks the memory of a run's inputs and outputs: whether it is given, large enough, and not
// shared with an output. shapes.h checks the shapes. Sizes are in bytes. Threads: pure functions.
#pragma once

#include "engine/program/session.h"

namespace gantry::program {

/// Returns kInvalidArgument if the number of outputs is wrong, if memory is missing or too small,
/// or if an output overlaps another argument. The message names the port, the offending value and
/// the valid value. The shapes of the inputs must have been checked before.
Status checkArguments(const Program &program, std::span<const TensorArgument> inputs,
                      std::span<const TensorArgument> outputs,
                      std::span<const OutputShape> outputShapes);

} // namespace gantry::program

// Checks that no value of a program is overwritten before its last reader.
//
// The check executes the commands on a map of the arena, the memory for the values that commands
// pass to each other (hazards::checkStorage(), engine/hazards/hazards.h). It knows neither the
// lifetimes nor the planned ranges of values, and shares no code with the compiler that assigned
// the storage. The compiler makes the same check of programs with fixed sizes; this one also serves
// programs whose sizes depend on the inputs of a run.
//
// Thread safety: pure functions.
#pragma once

#include "engine/program/shape_plan.h"

namespace gantry::program {

/// Checks the values in the arena, the outputs, and the states that the program changes. Returns
/// kInternal, with the numbers of the command and of the values, if a value lies outside of its
/// storage, if a command reads bytes that another value has overwritten or that nothing has
/// written, if the same holds for the caller, who reads the outputs after the last command, or if a
/// command writes bytes that it also reads (except when its result takes the place of an operand as
/// a whole) or bytes of another part of the same output or of the same value in the arena.
Status checkStorage(const artifact::Program &program, const ShapePlan &plan);

} // namespace gantry::program

// Checks that no value of a program is overwritten before its last reader.
//
// The check executes the commands on a map of the arena (hazards::checkStorage()). It knows neither
// lifetimes nor slots and shares no code with the compiler that assigned the storage. The compiler
// makes the same check of static programs; this one also serves programs of dynamic sizes.
//
// Thread safety: pure functions.
#pragma once

#include "engine/program/shape_plan.h"

namespace gantry::program {

/// Returns kInternal, with the names of the values and of the command, if a command reads bytes
/// that another value has overwritten, or writes outside of its result, or into a constant or an
/// input that the program neither takes as a donation nor keeps as a state.
Status checkStorage(const artifact::Program &program, const ShapePlan &plan);

} // namespace gantry::program

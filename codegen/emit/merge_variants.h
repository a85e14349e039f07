// Merges the emissions of a model for several device profiles into one artifact.
//
// The program of the first emission is the baseline; the others become its variants. All programs
// share one section of constants, which stores equal bytes once. The section is ordered by the set
// of programs that use a constant, so that the constants of one program lie in few contiguous
// ranges.
#pragma once

#include "codegen/emit/emit.h"

#include <memory>
#include <vector>

namespace gantry::codegen {

/// Returns the merged emission. `emissions` has at least one element. The constants of the result
/// still refer to the bytes of the emissions' modules.
std::unique_ptr<Emission> mergeVariants(std::vector<std::unique_ptr<Emission>> emissions);

} // namespace gantry::codegen

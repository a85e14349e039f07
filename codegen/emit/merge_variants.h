// Merges the emissions of a model for several device profiles into one artifact.
//
// The program of the first emission is the baseline; the others become its variants. All programs
// share one section of constants, in which equal bytes occur once. Constants that are used by the
// same set of programs are adjacent in the section, so that the constants of one program lie in few
// contiguous ranges.
//
// Thread safety: a pure function of its argument.
#pragma once

#include "codegen/emit/emit.h"

#include <memory>
#include <vector>

namespace gantry::codegen {

/// Returns the merged emission. `emissions` has at least one element. The constants of the result
/// still refer to the bytes of the emissions' modules.
std::unique_ptr<Emission> mergeVariants(std::vector<std::unique_ptr<Emission>> emissions);

} // namespace gantry::codegen

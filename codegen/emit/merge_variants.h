// Merges the emissions of a model into one. An emission is the result of a compilation for one
// device profile: the program, its constants, and the module that owns their bytes.
//
// The program of the first emission is the artifact's baseline; the others are further variants.
// All programs share one section of constants, in which equal bytes occur once. Constants that are
// used by the same set of programs are adjacent in the section, so that the constants of one
// program lie in few contiguous ranges.
//
// Thread safety: a pure function of its argument.
#pragma once

#include "codegen/emit/emit.h"

#include <memory>
#include <vector>

namespace gantry::codegen {

/// Returns the merged emission. `emissions` has at least one element. The result takes ownership of
/// the modules of all emissions, because its constants refer to their bytes.
std::unique_ptr<Emission> mergeVariants(std::vector<std::unique_ptr<Emission>> emissions);

} // namespace gantry::codegen

// Merges the emissions of a model into one. An emission (emit.h) is the result of a compilation for
// one device profile (the description of a device): the program and its constants.
//
// The program of the first emission is the artifact's baseline; the others are further variants.
// All programs share one section of constants, in which equal bytes occur once. Constants that are
// used by the same set of programs are adjacent in the section, so that the constants of one
// program lie in few contiguous ranges.
//
// Threads: any; the function uses only its argument.
#pragma once

#include "codegen/emit/emit.h"

#include <memory>
#include <vector>

namespace gantry::codegen {

/// Returns the merged emission. `emissions` has at least one element. The result takes over the
/// bytes that the emissions own. The modules from which the emissions were made must outlive the
/// result, because its constants also refer to bytes of these modules.
std::unique_ptr<Emission> mergeVariants(std::vector<std::unique_ptr<Emission>> emissions);

} // namespace gantry::codegen

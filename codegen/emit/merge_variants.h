// One artifact out of the emissions of a model for several device profiles.
//
// The first emission's program is the baseline; the others become its variants. All share one
// constants section, in which constants of equal bytes lie once. The section is ordered by the set
// of programs that use a constant, so that what one program uses lies in few stretches.
#pragma once

#include "codegen/emit/emit.h"

#include <memory>
#include <vector>

namespace gantry::codegen {

/// At least one emission. The constants keep referring to the bytes of the emissions' modules.
std::unique_ptr<Emission> mergeVariants(std::vector<std::unique_ptr<Emission>> emissions);

} // namespace gantry::codegen

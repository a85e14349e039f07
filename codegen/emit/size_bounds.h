// Computes upper limits of the program's shape expressions. With these limits, the memory of a
// program with dynamic sizes is planned once for all sizes.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <vector>

namespace gantry::artifact {
struct ProgramT;
}

namespace gantry::codegen {

/// Returns an upper limit for each expression of the program. The limit holds if every symbol (a
/// dynamic dimension of an input) stays between its min and its max; every symbol must have a max.
/// The limits come from interval arithmetic, so a limit may exceed the expression's largest value,
/// for example if a symbol occurs twice. Fails with kInvalidArgument if an
/// interval overflows 64 bits or a divisor may be below 1.
Result<std::vector<int64_t>> maxOfExprs(const artifact::ProgramT &program);

} // namespace gantry::codegen

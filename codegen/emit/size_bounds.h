// Upper limits of the program's shape expressions, for planning memory once for all sizes.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <vector>

namespace gantry::artifact {
struct ProgramT;
}

namespace gantry::codegen {

/// Returns an upper limit for each expression of the program, while every symbol stays between its
/// min and its max; every symbol must have a max. The limit is computed by interval arithmetic, so
/// it may exceed the largest value where a symbol occurs twice in an expression. Fails with
/// kInvalidArgument where an interval overflows 64 bits or a divisor may be 0.
Result<std::vector<int64_t>> maxOfExprs(const artifact::ProgramT &program);

} // namespace gantry::codegen

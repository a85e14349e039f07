// The most that the program's shape expressions can be, over all sizes its symbols may have.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <vector>

namespace gantry::artifact {
struct ProgramT;
}

namespace gantry::codegen {

/// Per expression of the program: what no size within the symbols' bounds exceeds. By interval
/// arithmetic, so it may lie above the largest value where a symbol occurs twice. Every symbol must
/// have a max. kInvalidArgument where an interval overflows 64 bits, or divides by 0.
Result<std::vector<int64_t>> mostOfExprs(const artifact::ProgramT &program);

} // namespace gantry::codegen

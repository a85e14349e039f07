// Shape expressions over known and unknown symbols, for engine/artifact and engine/program. Where
// all symbols are known, evaluateExprs in artifact.h is the entry.
#pragma once

#include "engine/artifact/artifact.h"

#include <optional>

namespace gantry::artifact {

/// The value of each expression that depends on no symbol; nothing for the others. The expressions
/// must be in order (operands before their users). kInvalidArgument where a constant one overflows
/// or divides by zero.
Result<std::vector<std::optional<int64_t>>> foldConstantExprs(const Program &program);

/// "ceil_div(batch * 7, 64)", cut at about 160 characters; for messages.
std::string exprText(const Program &program, uint32_t index);

} // namespace gantry::artifact

// Shape expressions whose symbols are not known yet: constant folding and text, for engine/artifact
// and engine/program. evaluateExprs() in artifact.h evaluates expressions for known symbols.
//
// Threads: pure functions over an immutable program.
#pragma once

#include "engine/artifact/artifact.h"

#include <optional>

namespace gantry::artifact {

/// Returns the value of each expression that depends on no symbol, and nullopt for the others.
/// Operands must precede their users in the list. Returns kInvalidArgument if a constant expression
/// overflows or divides by zero.
Result<std::vector<std::optional<int64_t>>> foldConstantExprs(const Program &program);

/// Returns the expression as text for messages, such as "ceil_div(batch * 7, 64)". Text beyond
/// about 160 characters is cut.
std::string exprText(const Program &program, uint32_t index);

} // namespace gantry::artifact

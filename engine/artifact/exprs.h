// Constant folding of shape expressions, and their text for messages. A shape expression computes a
// size from symbols, which are sizes that a run may choose (Expr in artifact.fbs). Both functions
// work without values for the symbols. engine/artifact and engine/program use them. evaluateExprs()
// in artifact.h evaluates expressions for known symbols.
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

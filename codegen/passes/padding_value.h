// Evaluates the bodies of linalg operations for known values, to find out what an operator computes
// in the padding of its operands.
//
// Thread safety: pure functions.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace gantry::codegen {

/// Returns the value that the operation's body yields if its arguments have these values. None
/// stands for an unknown value, as an argument and as the result. arguments: one for each operand,
/// the accumulator last. An argument of an integer type has its value as a signed integer.
std::optional<double> evaluateBody(mlir::linalg::GenericOp op,
                                   llvm::ArrayRef<std::optional<double>> arguments);

/// Returns whether a reduction ignores a step of the loop `loop` in which all inputs that depend on
/// the loop are zero, whatever its other inputs are. onlyOfConstants: only the inputs that are
/// constants are zero in this step. A sum of integer products ignores such a step, but in floats,
/// infinities and NaNs times zero are not zero.
bool ignoresZeros(mlir::linalg::GenericOp reduction, unsigned loop, bool onlyOfConstants = false);

} // namespace gantry::codegen

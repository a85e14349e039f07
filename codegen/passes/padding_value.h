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
/// the accumulator last. Only floating-point bodies have known results.
std::optional<double> evaluateBody(mlir::linalg::GenericOp op,
                                   llvm::ArrayRef<std::optional<double>> arguments);

/// Returns whether a reduction ignores a step of the loop `loop` in which all inputs that depend on
/// the loop are zero, whatever its other inputs are.
bool ignoresZeros(mlir::linalg::GenericOp reduction, unsigned loop);

} // namespace gantry::codegen

// Evaluates the bodies of linalg operations for known values. The pass pad-sizes, which rounds
// sizes of tensors up, finds out in this way which values an operator computes where its operands
// are padding.
//
// Thread safety: pure functions.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace gantry::codegen {

/// Returns the value that the operation's body yields if its arguments have these values. None
/// stands for an unknown value, as an argument and as the result. arguments: one value for each
/// operand, that of the accumulator last. Integers are given as signed numbers.
std::optional<double> evaluateBody(mlir::linalg::GenericOp op,
                                   llvm::ArrayRef<std::optional<double>> arguments);

/// Returns whether a step of the loop `loop` in which all inputs that depend on the loop are zero
/// leaves the reduction's accumulator unchanged, whatever the other inputs are. With
/// `onlyOfConstants`, only constants among the inputs that depend on the loop are zero in the step.
/// A sum of integer products then ignores the step if one factor is such a constant; a sum of float
/// products does not, because an infinity or a NaN times zero is not zero.
bool ignoresZeros(mlir::linalg::GenericOp reduction, unsigned loop, bool onlyOfConstants = false);

} // namespace gantry::codegen

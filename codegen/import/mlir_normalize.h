// Brings the result of MLIR's conversions into the form that the passes accept (import.h).
//
// An operation that cannot be brought into it is left as it is; mlir.cpp then reports it.
// Thread safety: as the MLIRContext.
#pragma once

namespace mlir::func {
class FuncOp;
}

namespace gantry::importer {

/// Runs before MLIR's conversions. tosa.concat becomes tensor.concat; MLIR would make a chain of
/// tensor.insert_slice, which the planner sees as copies.
void prepareFunction(mlir::func::FuncOp function);

/// Runs after them. For each linalg operation:
///   named operations other than linalg.fill become linalg.generic;
///   scalar operands and constants from outside move into the body;
///   an elementwise operation writes to a tensor.empty;
///   a reduction starts from a linalg.fill with its neutral element, and its own initial tensor is
///   combined afterwards:   %r = generic(add) outs(%bias)   becomes
///                          %s = generic(add) outs(fill 0), %r = generic(%s + %bias).
void normalizeFunction(mlir::func::FuncOp function);

} // namespace gantry::importer

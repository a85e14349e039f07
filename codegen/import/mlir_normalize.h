// Rewrites the linalg operations into which MLIR's own passes convert a .mlir model, so that they
// have the form that import.h describes. mlir.cpp runs these passes and calls the functions below.
//
// An operation that cannot be rewritten is not changed; mlir.cpp then reports it.
// Thread safety: the function must not be used by another thread at the same time.
#pragma once

namespace mlir::func {
class FuncOp;
}

namespace gantry::importer {

/// Called before MLIR's conversions. Rewrites tosa.concat to tensor.concat. MLIR would convert
/// tosa.concat to a chain of tensor.insert_slice, which copy their operands again and again.
void prepareFunction(mlir::func::FuncOp function);

/// Called after MLIR's conversions. For linalg operations:
///   named operations other than linalg.fill become linalg.generic;
///   scalar operands, and constants that are defined outside of the body, move into the body;
///   an elementwise operation of static shape that does not read its output operand gets a
///   tensor.empty as this operand;
///   a reduction starts from a linalg.fill with its neutral element, and its original initial
///   tensor is combined with the result:   %r = generic(add) outs(%bias)   becomes
///                          %s = generic(add) outs(fill 0), %r = generic(%s + %bias).
void normalizeFunction(mlir::func::FuncOp function);

} // namespace gantry::importer

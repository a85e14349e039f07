// Brings what MLIR's conversions leave into the form that the passes accept (import.h).
#pragma once

namespace mlir::func {
class FuncOp;
}

namespace gantry::importer {

/// Before MLIR's conversions: tosa.concat becomes tensor.concat (upstream makes a chain of
/// tensor.insert_slice of it, which a planner sees as copies).
void prepareFunction(mlir::func::FuncOp function);

/// After them, for each linalg operation:
///   named operations other than linalg.fill become linalg.generic;
///   scalar operands and constants from outside move into the body;
///   an elementwise operation writes to a tensor.empty;
///   a reduction starts from a linalg.fill with its neutral element, and what it started from is
///   combined afterwards:   %r = generic(add) outs(%bias)   becomes
///                          %s = generic(add) outs(fill 0), %r = generic(%s + %bias).
void normalizeFunction(mlir::func::FuncOp function);

} // namespace gantry::importer

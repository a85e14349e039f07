// Computes the comparisons of the arith dialect, and the zero extension of integers, on the host.
// The evaluator of linalg operations (evaluate.cpp and evaluate_steps.cpp) calls these functions.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::importer {

/// Compares like arith.cmpf: ordered predicates are false if an operand is NaN.
bool compareFloats(mlir::arith::CmpFPredicate predicate, double x, double y);
/// Compares like arith.cmpi. x and y must be sign-extended from `bits` bits.
bool compareIntegers(mlir::arith::CmpIPredicate predicate, int64_t x, int64_t y, int bits);
/// Returns the low `bits` bits as an unsigned number; bits is from 1 to 64.
uint64_t zeroExtend(int64_t value, int bits);

} // namespace gantry::importer

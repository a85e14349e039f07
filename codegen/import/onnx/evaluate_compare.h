// Comparisons of the arith dialect on numbers of the host, for evaluate.cpp.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::importer {

bool compareFloats(mlir::arith::CmpFPredicate predicate, double x, double y);
/// x and y are sign-extended from `bits` bits.
bool compareIntegers(mlir::arith::CmpIPredicate predicate, int64_t x, int64_t y, int bits);
/// The low `bits` bits of a number, as an unsigned one.
uint64_t zeroExtend(int64_t value, int bits);

} // namespace gantry::importer

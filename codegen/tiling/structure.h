// What linalg operations compute, told by their structure: sums of products, reductions over rows,
// elementwise operations.
//
// Threads: pure.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <optional>
#include <utility>

namespace gantry::codegen {

/// What a value of a body was extended or truncated from.
mlir::Value withoutCasts(mlir::Value value);

/// The two operands of a reduction that sums their products from zero on.
std::optional<std::pair<mlir::OpOperand *, mlir::OpOperand *>>
factorsOf(mlir::linalg::GenericOp op);

/// The value of an i32 (or narrower) in a body, if it is a constant or the extension of one.
std::optional<int64_t> constantInteger(mlir::Value value);

/// The block argument of 8 bits that `value` extends to i32, or null.
mlir::BlockArgument extendedByte(mlir::Value value, bool &isSigned);

/// A factor of a sum of products of bytes: an integer of 8 bits less its zero point.
struct ByteFactor {
  mlir::OpOperand *operand = nullptr;
  bool isSigned = false;
  int64_t zeroPoint = 0;            // where it is one constant; else
  mlir::OpOperand *zeros = nullptr; // 8 bits, the same for all steps of the sum
  bool zerosSigned = false;
};

/// The factors of a reduction whose body is accumulator + (byte - zero point) * (byte - zero point)
/// in i32.
std::optional<std::array<ByteFactor, 2>> byteFactorsOf(mlir::linalg::GenericOp op);

/// The extents of a reduction's own loops; kDynamic where the inputs decide.
llvm::SmallVector<int64_t> reductionExtentsOf(mlir::linalg::GenericOp op);

/// Along which of a reduction's dimensions products of bytes are taken four at a time: the longest
/// whose extent is a multiple of four, by its place in the list of extents. None where none is.
std::optional<unsigned> dotDimensionOf(llvm::ArrayRef<int64_t> extents);

/// The op of a reduction's body that combines the accumulator with an element, if two accumulators
/// can be combined by it too (sums, products, maxima, …); else null.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op);

/// The map (d0, …, dn-1, 0): one element per row.
bool isRowMap(mlir::AffineMap map);

/// A reduction over the last dimension whose partial results can be combined.
bool isRowReduction(mlir::linalg::GenericOp op);

/// Each element of the only result is computed at its own point.
bool isElementwise(mlir::linalg::GenericOp op);

} // namespace gantry::codegen

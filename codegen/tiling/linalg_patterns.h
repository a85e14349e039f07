// Recognises what linalg operations compute from their bodies and maps: sums of products,
// reductions over rows, elementwise operations.
//
// Threads: pure.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <optional>
#include <utility>

namespace gantry::codegen {

/// The value of a body before it was extended, or truncated for storage.
mlir::Value withoutCasts(mlir::Value value);

/// The two operands of a reduction that sums their products from zero on. None for any other
/// operation.
std::optional<std::pair<mlir::OpOperand *, mlir::OpOperand *>>
factorsOf(mlir::linalg::GenericOp op);

/// The value of an integer of a body, if it is a constant or the extension of one.
std::optional<int64_t> constantInteger(mlir::Value value);

/// The 8-bit block argument that `value` extends to i32, or null. Sets isSigned to the kind of
/// extension.
mlir::BlockArgument extendedByte(mlir::Value value, bool &isSigned);

/// A factor of a sum of int8 products: an 8-bit integer minus its zero point.
struct ByteFactor {
  mlir::OpOperand *operand = nullptr;
  bool isSigned = false;
  int64_t zeroPoint = 0;            // Used if `zeros` is null.
  mlir::OpOperand *zeros = nullptr; // 8-bit zero points, the same for all steps of the sum.
  bool zerosSigned = false;
};

/// The factors of a reduction whose body is accumulator + (byte - zero point) * (byte - zero point)
/// in i32. None for any other operation.
std::optional<std::array<ByteFactor, 2>> byteFactorsOf(mlir::linalg::GenericOp op);

/// The extents of a reduction's own loops; kDynamic where the inputs decide.
llvm::SmallVector<int64_t> reductionExtentsOf(mlir::linalg::GenericOp op);

/// The reduction dimension along which int8 products are summed four at a time, by its place in the
/// list of extents: the longest one whose extent is a multiple of four. None if there is none.
std::optional<unsigned> dotDimensionOf(llvm::ArrayRef<int64_t> extents);

/// The operation of a reduction's body that combines the accumulator with an element. Null if it
/// could not also combine two accumulators, as sums, products and maxima can.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op);

/// Whether the map is (d0, …, dn-1, 0): one element per row.
bool isRowMap(mlir::AffineMap map);

/// Whether the operation is a reduction over the last dimension whose partial results can be
/// combined.
bool isRowReduction(mlir::linalg::GenericOp op);

/// Whether the operation computes each element of its only result at that element's own point.
bool isElementwise(mlir::linalg::GenericOp op);

} // namespace gantry::codegen

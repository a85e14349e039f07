// Recognises sums of products, reductions over rows, and elementwise operations, by the bodies and
// indexing maps of linalg operations.
//
// Threads: pure.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <optional>
#include <utility>

namespace gantry::codegen {

/// Returns the value from which `value` is computed by float extensions and by truncations that the
/// compiler added to store 16-bit floats (storedFloat in codegen/dialect/rounding.h). Returns
/// `value` itself if there are none.
mlir::Value withoutCasts(mlir::Value value);

/// Returns the two operands of a reduction that sums the products of their elements, in floats and
/// starting with zero. None for any other operation.
std::optional<std::pair<mlir::OpOperand *, mlir::OpOperand *>>
factorsOf(mlir::linalg::GenericOp op);

/// Returns the integer if `value` is a constant or the extension of a constant.
std::optional<int64_t> constantInteger(mlir::Value value);

/// Returns the 8-bit block argument that `value` extends to i32, or null. Sets isSigned to whether
/// the extension is signed.
mlir::BlockArgument extendedByte(mlir::Value value, bool &isSigned);

/// A factor of a sum of int8 products: an 8-bit integer minus its zero point.
struct ByteFactor {
  mlir::OpOperand *operand = nullptr; // The tensor of 8-bit integers.
  bool isSigned = false;              // Whether the integers of `operand` are signed.
  int64_t zeroPoint = 0;              // Used if `zeros` is null.
  mlir::OpOperand *zeros = nullptr;   // 8-bit zero points that do not depend on the reduction step.
  bool zerosSigned = false;           // Whether the zero points are signed.
};

/// Returns the factors of a reduction whose body is accumulator + (byte - zero point) * (byte -
/// zero point) in i32; zero points may be absent. None for any other operation.
std::optional<std::array<ByteFactor, 2>> byteFactorsOf(mlir::linalg::GenericOp op);

/// Returns the extents of an operation's reduction loops. Dynamic extents are kDynamic.
llvm::SmallVector<int64_t> reductionExtentsOf(mlir::linalg::GenericOp op);

/// Returns the position, in the list of reduction extents, of the dimension along which int8
/// products are summed in groups of four: the longest one whose extent is static and a multiple of
/// four. None if there is no such dimension.
std::optional<unsigned> dotDimensionOf(llvm::ArrayRef<int64_t> extents);

/// Returns the operation of a reduction's body that combines the accumulator with an element. Null
/// if the operation has no neutral element. Those with one are sums, products, minima, maxima and
/// the like: they can also combine partial results, which start at the neutral element.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op);

/// Returns whether the map is (d0, …, dn) -> (d0, …, dn-1, 0), which reads one element per row: the
/// coordinate along the last dimension is always 0.
bool isRowMap(mlir::AffineMap map);

/// Returns whether the operation is a reduction over the last dimension whose partial results can
/// be combined, and whose result has the extent 1 in place of that dimension.
bool isRowReduction(mlir::linalg::GenericOp op);

/// Returns the first tensor operand whose last index is the loop of the reduction, so that
/// neighbouring steps read neighbouring elements. Null if there is none, if the operation does not
/// reduce over exactly one dimension, or if partial results cannot be combined (combinerOf()).
mlir::OpOperand *rowOperandOf(mlir::linalg::GenericOp op);

/// Returns whether the operation has no reduction and one result, and writes each element of the
/// result at its own loop coordinates. Operands may have any map.
bool isElementwise(mlir::linalg::GenericOp op);

} // namespace gantry::codegen

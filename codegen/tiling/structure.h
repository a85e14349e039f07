// What linalg operations compute, told by their structure: sums of products, reductions over rows,
// elementwise operations.
//
// Threads: pure.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <utility>

namespace gantry::codegen {

/// What a value of a body was extended or truncated from.
mlir::Value withoutCasts(mlir::Value value);

/// The two operands of a reduction that sums their products from zero on.
std::optional<std::pair<mlir::OpOperand *, mlir::OpOperand *>>
factorsOf(mlir::linalg::GenericOp op);

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

// Tells which operators read a tensor as an image, and therefore profit from blocks of four
// channels.
//
// Thread safety: pure functions.
#pragma once

#include "mlir/IR/Value.h"

namespace gantry::codegen {

/// Returns whether an operator reads `value` as an image: reduces over windows of the dimensions
/// after dimension 1, over all of these dimensions, or over dimension 1 but not over the last one.
/// Pads and elementwise operators between `value` and this operator do not matter, nor do slices
/// and concatenations if `afterMoves` is set. `value` belongs to a function of operators or to the
/// region of a dispatch.
bool readsAsImage(mlir::Value value, bool afterMoves = false);

} // namespace gantry::codegen

// Recognises attentions: a softmax over the rows of a matmul, multiplied by a third matrix.
//
// An attention is recognised by what its operations compute (linalg_patterns.h), backwards from the
// last matmul. Any elementwise operations (scales, masks) may stand between the matmul that makes
// the scores and the softmax. As one kernel it keeps no scores in memory:
// emitter/online_softmax.h.
//
// Not recognised: scores that another operation reads as well, and reshapes on the way.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_shape.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <vector>

namespace gantry::codegen {

/// softmax(scores) · values, where the scores are computed from a matmul.
struct Attention {
  mlir::linalg::GenericOp product; // softmax(scores) · values. Its only reduction is over the keys.
  mlir::OpOperand *weights;        // The product's operand softmax(scores).
  mlir::Value scores;              // The softmax is over its last dimension.
  // The operations from the matmul that makes the scores up to the softmax. Only these and
  // `product` read their results.
  llvm::SmallVector<mlir::linalg::GenericOp> members;

  /// The product's loop over the keys.
  unsigned keyLoop() const;
  /// The product's loop over the elements of a value. The weights do not depend on it.
  unsigned valueLoop() const;
};

/// The attention that ends with this product, or none. Its sums are in f32.
std::optional<Attention> attentionOf(mlir::linalg::GenericOp product);

/// The attention in a kernel's function, or none.
std::optional<Attention> attentionIn(mlir::func::FuncOp kernel);

/// The tiles worth comparing for a kernel with an attention. baseline: without subgroup operations.
/// Implemented in attention_tiles.cpp.
std::vector<TileShape> attentionTiles(mlir::func::FuncOp kernel, const Attention &attention,
                                      const DeviceProfile &profile, bool baseline);

} // namespace gantry::codegen

// Recognises attentions: softmax(queries · keysᵀ) · values. The first matmul computes the scores,
// the softmax over each row of the scores gives the weights, and the second matmul multiplies the
// weights by the values.
//
// An attention is recognised by the arithmetic of its operations (linalg_patterns.h), starting at
// the last matmul and following operands backwards. Elementwise operations (scales, masks) may lie
// between the first matmul and the softmax. A kernel for the whole attention does not store the
// scores (emitter/online_softmax.h).
//
// An attention is not recognised if other operations read its intermediate tensors, or if there are
// reshapes between the two matmuls.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_choice.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <vector>

namespace gantry::codegen {

/// The operations of softmax(scores) · values, where the scores are computed from a matmul.
struct Attention {
  mlir::linalg::GenericOp product; // softmax(scores) · values. Its only reduction is over the keys.
  mlir::OpOperand *weights;        // The operand softmax(scores) of `product`.
  mlir::Value scores;              // The softmax's operand. The softmax is over its last dimension.
  // The operations from the first matmul to the softmax, inclusive. Only these and `product` read
  // their results.
  llvm::SmallVector<mlir::linalg::GenericOp> members;

  /// The loop of `product` over the keys.
  unsigned keyLoop() const;
  /// The loop of `product` over the elements of the vector that `values` has for each key. The
  /// weights do not depend on this loop.
  unsigned valueLoop() const;
};

/// Returns the attention whose last matmul is `product`. Returns none if there is no attention, or
/// if the sums of `product` are not f32.
std::optional<Attention> attentionOf(mlir::linalg::GenericOp product);

/// Returns the first attention in a kernel's function on tensors, or none.
std::optional<Attention> attentionIn(mlir::func::FuncOp kernel);

/// Returns the candidate tiles of a kernel with an attention; a tile is the part of the result that
/// an invocation or a subgroup computes (tile_shape.h). With sharesTiles(kind), a subgroup shares
/// each tile. Implemented in attention_tiles.cpp.
std::vector<TileShape> attentionTiles(mlir::func::FuncOp kernel, const Attention &attention,
                                      const DeviceProfile &profile, TileKind kind);

} // namespace gantry::codegen

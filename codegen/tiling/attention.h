// Attention: a softmax over the rows of a product, multiplied by another product's right operand.
//
// It is recognised by what the operations compute (structure.h), from the last product backwards;
// between the scores' product and the softmax any elementwise operations may stand (scales, masks).
// As one kernel it keeps no scores in memory: online_softmax.cpp.
//
// Not recognised: scores that something else reads as well, and reshapes in between.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/kernel_evaluator.h"
#include "engine/base/device_profile.h"

#include <optional>
#include <vector>

namespace gantry::codegen {

/// softmax(scores) · values, where the scores are computed from a product.
struct Attention {
  mlir::linalg::GenericOp product; // softmax(scores) · values; its only reduction is over the keys
  mlir::OpOperand *weights;        // of the product: softmax(scores)
  mlir::Value scores;              // of which the softmax is taken, over the last dimension
  // Everything from the product that the scores come from up to the softmax. Nothing but these and
  // `product` reads their results.
  llvm::SmallVector<mlir::linalg::GenericOp> members;

  /// The loop of the product that is over the keys.
  unsigned keyLoop() const;
  /// The loop of the product that its weights do not depend on: within a value.
  unsigned valueLoop() const;
};

/// The attention that ends with this product; none where it does not end one. Sums are in f32.
std::optional<Attention> attentionOf(mlir::linalg::GenericOp product);

/// The attention in a kernel's function, if there is one.
std::optional<Attention> attentionIn(mlir::func::FuncOp kernel);

/// Tiles worth comparing for a kernel with an attention. baseline: without subgroup operations.
std::vector<TileShape> attentionTiles(mlir::func::FuncOp kernel, const Attention &attention,
                                      const DeviceProfile &profile, bool baseline);

} // namespace gantry::codegen

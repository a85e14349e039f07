// Sizes and storage of the tensors of the program's function.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace gantry::codegen {

/// The offset and the size of every transient are multiples of this, in bytes.
inline constexpr uint32_t kArenaAlignment = 256;

/// Returns the extents of a tensor as constants or index values, derived from the operation that
/// makes it. The index arithmetic for that is created at the builder's position.
llvm::SmallVector<mlir::OpFoldResult> tensorDims(mlir::OpBuilder &builder, mlir::Value tensor);

/// Replaces all tensor.dim of the block's arguments by one for each dynamic dimension, at the
/// block's start. Equal sizes are then the same value.
void hoistArgumentDims(mlir::Block &block);

/// Returns the tensor whose bytes `tensor` views, which is `tensor` itself unless it is a reshape.
mlir::Value storageOf(mlir::Value tensor);

} // namespace gantry::codegen

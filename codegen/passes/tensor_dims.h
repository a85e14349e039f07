// Sizes and storage of tensors at the level of the program's function.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace gantry::codegen {

/// Every transient begins at a multiple of these bytes and takes one of them.
inline constexpr uint32_t kArenaAlignment = 256;

/// The extents of a tensor as constants or index values, derived from the op that makes it. Index
/// arithmetic that this needs is created at the builder's position.
llvm::SmallVector<mlir::OpFoldResult> tensorDims(mlir::OpBuilder &builder, mlir::Value tensor);

/// Leaves one tensor.dim per dynamic dimension of the block's arguments, at the block's start, so
/// that equal sizes are equal values.
void hoistArgumentDims(mlir::Block &block);

/// The tensor whose bytes this one views: reshapes are views.
mlir::Value storageOf(mlir::Value tensor);

} // namespace gantry::codegen

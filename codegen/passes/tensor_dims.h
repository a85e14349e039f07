// Helpers for tensors in the program's function: their types and sizes, the tensors that reshapes
// view, and copies.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace gantry::codegen {

/// The arena is the memory of all transients, the tensors that only dispatches of one run read. The
/// offset in the arena and the size of every transient are multiples of this number of bytes.
inline constexpr uint32_t kArenaAlignment = 256;

inline bool isTensor(mlir::Value value) {
  return mlir::isa<mlir::RankedTensorType>(value.getType());
}

/// Returns the type of a tensor; every tensor of the compiler has a rank.
inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType());
}

/// Returns whether an operation views a tensor with another shape. null: false.
bool isReshape(mlir::Operation *op);

/// Returns the extents of a tensor as constants or index values. Dynamic ones are derived from the
/// operation that produces the tensor. The necessary index arithmetic is created at the builder's
/// insertion point.
llvm::SmallVector<mlir::OpFoldResult> tensorDims(mlir::OpBuilder &builder, mlir::Value tensor);

/// Creates one tensor.dim at the block's start for each dynamic dimension of the block's arguments,
/// and replaces all other tensor.dim operations of this dimension by it. Each dynamic size of an
/// argument is then a single SSA value.
void hoistArgumentDims(mlir::Block &block);

/// Returns the tensor that `tensor` views through reshapes; `tensor` itself if it is not a reshape.
mlir::Value viewedTensor(mlir::Value tensor);

/// Returns whether the program's function returns the tensor or a reshape of it.
bool isReturned(mlir::Value tensor);

/// Returns the extent, or 64 if it is dynamic.
double assumedExtent(int64_t extent);

/// Returns the number of elements of a tensor, with assumedExtent() for each dimension.
double assumedElements(mlir::RankedTensorType type);

/// Creates an operator that copies a tensor, and returns the copy.
mlir::Value copyTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);

} // namespace gantry::codegen

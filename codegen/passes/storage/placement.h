// The place of a tensor: a storage of its own, or a box inside the storage of a concatenation.
//
// A gantry.concat moves no data: the operators that compute its inputs write into its result. The
// inputs, and the inputs of inputs, are therefore boxes in the storage of the outermost result. A
// box has the same dimensions as the storage; it begins at `offsets` and has the extents of the
// tensor. If a concatenation interleaves its inputs, neighbours of a box lie `steps` apart. The
// inputs of several concatenations may lie in the storage of the largest.
//
// Thread safety: pure functions.
#pragma once

#include "codegen/dialect/gantry_dialect.h"

namespace gantry::codegen {

/// The place of a tensor in memory.
struct Placement {
  /// The tensor that covers the whole storage: the result of the largest gantry.concat that the
  /// tensor lies in, otherwise the tensor itself or the tensor whose reshape it is.
  mlir::Value storage;
  /// The index of the box's first element, by dimension of the storage.
  llvm::SmallVector<int64_t> offsets;
  /// The distance of neighbours of the box in the storage, by dimension.
  llvm::SmallVector<int64_t> steps;
  /// The box: the tensor itself, or the tensor whose reshape it is.
  mlir::Value box;
};
Placement placementOf(mlir::Value tensor);

/// Returns placementOf(tensor).storage.
mlir::Value storageOf(mlir::Value tensor);

/// Returns whether the tensor shares its storage with others: it is an input or the result of a
/// gantry.concat, or a reshape of one.
bool isInSharedStorage(mlir::Value tensor);

/// Returns the dimensions along which a tensor is interleaved, itself or in its parts.
llvm::SmallDenseSet<uint64_t> interleavedDims(mlir::Value tensor);

/// Returns whether the elements of the box, in row-major order, are one range of the storage.
bool isOneRange(const Placement &place);

/// Returns the extents of the storage, which determine the strides of the box, as LayoutAttr's
/// `within` has them; empty if the box is one range.
llvm::SmallVector<int64_t> withinOf(const Placement &place);

/// Returns the layout of the box. parts: the parts of the storage's layout; start: see LayoutAttr.
LayoutAttr boxedLayout(const Placement &place, llvm::ArrayRef<int64_t> parts, int64_t start);

/// Returns the tensors whose bytes make up `tensor`: the inputs of a gantry.concat, and their
/// inputs; otherwise the tensor itself or the tensor whose reshape it is.
llvm::SmallVector<mlir::Value> partsOf(mlir::Value tensor);

/// Returns the number of elements from the start of the storage to the box. parts: the layout of
/// the storage (codegen/tiling/layout.h). All extents that the number depends on are static.
int64_t startOf(const Placement &place, llvm::ArrayRef<int64_t> parts);

} // namespace gantry::codegen

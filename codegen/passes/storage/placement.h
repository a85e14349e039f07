// Finds the place of a tensor in memory: a storage of its own, or a box inside the storage of a
// concatenation.
//
// A gantry.concat moves no data: the operators that compute its inputs write into its result, whose
// bytes are the storage of all these tensors. If the result is itself an input of a gantry.concat,
// the storage is that of the outer result, and so on. If a tensor is an input of several
// concatenations, all their results lie in the storage of the largest one, which has the most
// elements.
//
// A box is a range of indices along each dimension of the storage. It has the same rank as the
// storage, begins at the index `offsets`, and has the extents of the tensor. A concatenation may
// interleave its inputs along a dimension, so that index i of the result belongs to input i mod
// (number of inputs). Neighbouring elements of a box then lie `steps` indices apart.
//
// Thread safety: pure functions.
#pragma once

#include "codegen/dialect/gantry_dialect.h"

namespace gantry::codegen {

/// The additional cost of an access to an element of a tensor whose rows do not begin at multiples
/// of four elements, so that they cannot be accessed as vectors. The unit is the time to copy one
/// element (benchmarks/kernels/concats.py).
inline constexpr double kOddRowAccess = 0.4;

/// The place of a tensor in memory.
struct Placement {
  /// The tensor that covers the whole storage: the result of the outermost gantry.concat that the
  /// tensor lies in. If the tensor lies in none, the same value as `box`.
  mlir::Value storage;
  /// For each dimension, the index in the storage of the box's first element.
  llvm::SmallVector<int64_t> offsets;
  /// For each dimension, the difference between the indices in the storage of two neighbouring
  /// elements of the box. It is 1 unless a concatenation interleaves along the dimension.
  llvm::SmallVector<int64_t> steps;
  /// The tensor itself; if the tensor is a reshape, the tensor that it views.
  mlir::Value box;
};
/// Returns the place of the tensor.
Placement placementOf(mlir::Value tensor);

/// Returns placementOf(tensor).storage.
mlir::Value storageOf(mlir::Value tensor);

/// Returns whether the tensor shares its storage with others: the tensor, or the tensor that it
/// reshapes, is an input or the result of a gantry.concat.
bool isInSharedStorage(mlir::Value tensor);

/// Returns the dimensions along which a tensor is interleaved. If an interleaving gantry.concat
/// makes the tensor, these are its dimension and the interleaved dimensions of all its inputs;
/// otherwise there are none.
llvm::SmallDenseSet<uint64_t> interleavedDims(mlir::Value tensor);

/// Returns whether the elements of the box, in row-major order, are one contiguous range of the
/// storage.
bool isOneRange(const Placement &place);

/// Returns the extents of the storage, from which the strides of the box follow; -1 stands for a
/// dynamic extent. Empty if the box is one range (isOneRange()). This is the parameter `within` of
/// LayoutAttr (codegen/dialect/GantryAttributes.td).
llvm::SmallVector<int64_t> withinOf(const Placement &place);

/// Returns the layout of the box. parts: the order of the elements in the storage, as a list of
/// (dimension, block) pairs (codegen/tiling/layout.h). start: the number of elements from the start
/// of the bound buffer to the box.
LayoutAttr boxedLayout(const Placement &place, llvm::ArrayRef<int64_t> parts, int64_t start);

/// Returns the tensors whose bytes make up `tensor`. If it is the result of a gantry.concat, or a
/// reshape of the result, these are the tensors that make up the inputs (partsOf() each input).
/// Otherwise the only one is the tensor itself or, for a reshape, the tensor that it views.
llvm::SmallVector<mlir::Value> partsOf(mlir::Value tensor);

/// Returns the number of elements from the start of the storage to the first element of the box.
/// parts: as for boxedLayout(). All extents that the number depends on must be static.
int64_t startOf(const Placement &place, llvm::ArrayRef<int64_t> parts);

} // namespace gantry::codegen

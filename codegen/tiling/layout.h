// Layouts: where a tensor's elements lie in memory if that is not row-major order.
//
// A layout lists physical dimensions from the outermost to the innermost. Each is a part of a
// logical dimension: (dimension, block) stands for index / block, modulo the next larger block of
// the same dimension. Row-major order of rank 2 is (0,1) (1,1). Channels in blocks of four are
// (0,1) (1,4) (2,1) (3,1) (1,1); convolutions read this order fastest on devices that read memory
// as vec4. Blocks must divide the extents: a layout never changes a tensor's size.
//
// As an attribute it is the flat list of pairs; the empty list is row-major order. Only tensors
// between two dispatches, and constants, have layouts. Inputs, outputs and tensors that a view
// looks at are row-major. pack-constants permutes constants.
#pragma once

#include "codegen/tiling/index_expr.h"

namespace gantry::codegen {

/// (dimension, block) pairs, flat.
using Layout = llvm::ArrayRef<int64_t>;

/// Dimension 1 in blocks of `block`, which lie innermost. rank: at least 3.
llvm::SmallVector<int64_t> channelsBlocked(int64_t rank, int64_t block);

/// The last two dimensions in panels of `rows` rows, in which blocks of `columns` elements of each
/// row follow one another. The elements that the lanes of a matmul load together are then adjacent,
/// and rows at distances of a power of two do not compete for the same cache sets. rank: at
/// least 2.
llvm::SmallVector<int64_t> rowPanels(int64_t rank, int64_t rows, int64_t columns);

/// The address of an element, in elements from the tensor's start.
IndexExpr linearAddress(IndexSpace &space, Layout layout, llvm::ArrayRef<IndexExpr> shape,
                        llvm::ArrayRef<IndexExpr> index);

} // namespace gantry::codegen

// How a tensor's elements lie in memory when that is not row-major order.
//
// A layout lists physical dimensions from the outermost to the innermost, each a part of a logical
// one: (dimension, block) stands for index / block, modulo the next larger block of the same
// dimension. Row-major order of rank 2 is (0,1) (1,1); channels in blocks of four, the order that
// convolutions read fastest where memory is read in vectors of four, is (0,1) (1,4) (2,1) (3,1)
// (1,1). Blocks must divide the extents: a layout never changes a tensor's size.
//
// As an attribute it is the flat list of pairs; the empty list is row-major order. Only tensors
// between two dispatches have layouts: inputs, outputs, constants and whatever a view looks at are
// row-major. (Constants are permuted by pack-constants, where their type and maps say so.)
#pragma once

#include "codegen/tiling/index_expr.h"

namespace gantry::codegen {

/// (dimension, block) pairs, flat.
using Layout = llvm::ArrayRef<int64_t>;

/// Rank 3 or more: dimension 1 in blocks of `block`, which lie innermost.
llvm::SmallVector<int64_t> channelsBlocked(int64_t rank, int64_t block);

/// Rank 2 or more: the last two dimensions in panels of so many rows, in which blocks of `columns`
/// of each row lie one after the other: what the lanes of a product load at once is adjacent, and
/// rows a power of two apart do not compete for the same places in a cache.
llvm::SmallVector<int64_t> rowPanels(int64_t rank, int64_t rows, int64_t columns);

/// The place of an element, in elements from the tensor's start.
IndexExpr linearAddress(IndexSpace &space, Layout layout, llvm::ArrayRef<IndexExpr> shape,
                        llvm::ArrayRef<IndexExpr> index);

} // namespace gantry::codegen

// Layouts: the order of a tensor's elements in memory, if it is not row-major.
//
// A layout lists physical dimensions from the outermost to the innermost. A physical dimension is a
// pair (dimension, block) and holds a part of a logical dimension: its index is floor(i / block),
// where i is the index along the logical dimension. If the layout has a larger block of the same
// dimension, this index is taken modulo (next larger block / block). Row-major order of rank 2 is
// (0,1) (1,1). Channels in blocks of four are (0,1) (1,4) (2,1) (3,1) (1,1); convolutions read this
// order fastest on devices that read memory as vec4. Blocks must divide the extents, so a layout
// never changes a tensor's size.
//
// A layout attribute contains the flat list of pairs; the empty list is row-major order. The pass
// choose-layouts gives another order only to intermediate tensors: kernels write them, and nothing
// but kernels reads them. Inputs, outputs, constants and tensors that are also used with another
// shape are row-major. For constants the pass pack-constants permutes the elements and the type
// instead, so the kernel reads a row-major tensor of another shape.
//
// Threads: the functions keep no state. linearAddress() adds expressions to the IndexSpace that it
// is given, so only one thread at a time may use a space.
#pragma once

#include "codegen/tiling/index_expr.h"

namespace gantry::codegen {

/// (dimension, block) pairs, flat.
using Layout = llvm::ArrayRef<int64_t>;

/// Returns the layout in which dimension 1, the channels of an image, is divided into blocks of
/// `block` neighbours, which lie innermost. rank: 3 or more.
llvm::SmallVector<int64_t> channelsBlocked(int64_t rank, int64_t block);

/// Returns the layout that divides the last two dimensions into panels of `rows` rows. A panel is
/// stored in groups of `columns` columns, each with the elements of all rows of the panel. The
/// elements that the lanes (invocations of a subgroup) of a matmul load together are then adjacent,
/// and rows do not compete for the same cache sets, as they do in row-major order if their length
/// is a large power of two. rank: 2 or more.
llvm::SmallVector<int64_t> rowPanels(int64_t rank, int64_t rows, int64_t columns);

/// Returns the address of an element, in elements from the tensor's start. shape: the extents of
/// the tensor, or of the larger tensor in whose memory it lies (KernelShapes::storageShape).
IndexExpr linearAddress(IndexSpace &space, Layout layout, llvm::ArrayRef<IndexExpr> shape,
                        llvm::ArrayRef<IndexExpr> index);

} // namespace gantry::codegen

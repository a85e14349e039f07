// Points of tensors that a kernel evaluates together. A point is one element of a tensor, given by
// its index along each dimension.
#pragma once

#include "codegen/tiling/index_expr.h"

#include <utility>
#include <vector>

namespace gantry::codegen {

/// SSA values of the kernel, in most places one per point. They are null with a CountingSink
/// (counting_sink.h), which predicts a kernel's cost and builds nothing. Sums are computed for
/// groups of up to 8 points (accumulationGroups() in emitter/accumulation.h); lists of more
/// allocate memory.
using Values = llvm::SmallVector<mlir::Value, 8>;

/// The values of the loop counters of a linalg operation, by loop. A convolution of images has
/// seven loops.
using LoopIndex = llvm::SmallVector<IndexExpr, 7>;

/// A point of a tensor. `guard` is the number of a set of conditions under which the point lies
/// inside the tensor (emitter/guards.h); 0 is the empty set. A load whose guard does not hold reads
/// element 0 of the buffer instead, and its value does not matter unless the caller asks for zeros
/// (MemoryAccess::Outside in emitter/memory/memory_access.h).
struct Point {
  IndexList index;
  int32_t guard = 0;
  bool operator==(const Point &other) const { return guard == other.guard && index == other.index; }
};

/// Returns a point's index as a key for maps.
inline std::vector<IndexExpr> keyOf(const Point &point) {
  return {point.index.begin(), point.index.end()};
}

/// The arrangement of the points that an invocation evaluates together, as a grid in row-major
/// order. A reduction finds neighbouring points by this grid, because it computes the sums of a few
/// neighbours at a time, so that they stay in registers (accumulationGroups() in
/// emitter/accumulation.h).
struct PointGrid {
  llvm::SmallVector<int64_t> extents;
  // The dimension whose points are divided among the lanes (invocations) of a subgroup.
  unsigned laneDim = 0;
};

} // namespace gantry::codegen

// Points (coordinates of elements) of tensors that a kernel evaluates together.
#pragma once

#include "codegen/tiling/index_expr.h"

#include <utility>
#include <vector>

namespace gantry::codegen {

/// SSA values of the kernel, in most places one per point. They are null with a counting sink.
using Values = llvm::SmallVector<mlir::Value>;

/// The coordinates of a linalg operation's loops.
using LoopIndex = llvm::SmallVector<IndexExpr, 6>;

/// A point of a tensor. `guard` (guards.h) is the set of conditions under which the point lies
/// inside the tensor. A load whose guard is false reads element 0 instead, and its value does not
/// matter unless the caller asks for zeros (MemoryAccess::Outside).
struct Point {
  llvm::SmallVector<IndexExpr, 4> index;
  int32_t guard = 0;
  bool operator==(const Point &other) const { return guard == other.guard && index == other.index; }
};

/// Returns a point's index as a key for maps.
inline std::vector<IndexExpr> keyOf(const Point &point) {
  return {point.index.begin(), point.index.end()};
}

/// The arrangement of the points that an invocation evaluates together, as a grid in row-major
/// order. Reductions group their accumulators by the grid, unless the number of points differs from
/// the grid's size.
struct PointGrid {
  llvm::SmallVector<int64_t> extents;
  unsigned laneDim = 0; // The dimension along which the lanes of a subgroup lie.
};

} // namespace gantry::codegen

// Points of tensors that a kernel evaluates together.
#pragma once

#include "codegen/tiling/index_expr.h"

#include <utility>
#include <vector>

namespace gantry::codegen {

/// SSA values of the kernel, one per point. The counting sink gives null values.
using Values = llvm::SmallVector<mlir::Value>;

/// The coordinates of a linalg operation's loops.
using LoopIndex = llvm::SmallVector<IndexExpr, 6>;

/// A point of a tensor. `guard` (see guards.h) is the set of conditions under which the point lies
/// inside the tensor. A load under a false guard reads element 0, and its value does not matter.
struct Point {
  llvm::SmallVector<IndexExpr, 4> index;
  int32_t guard = 0;
};

/// A point's index as a key of a map.
inline std::vector<IndexExpr> keyOf(const Point &point) {
  return {point.index.begin(), point.index.end()};
}

/// The points that an invocation evaluates together, as a grid in row-major order. Reductions
/// group their accumulators by it. A grid whose size differs from the number of points is ignored.
struct PointGrid {
  llvm::SmallVector<int64_t> extents;
  unsigned laneDim = 0; // The dimension along which the lanes of a subgroup lie.
};

} // namespace gantry::codegen

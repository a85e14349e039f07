// How the lanes of a subgroup share the elements of a row, and combine what each of them has.
//
// Row kernels share the columns of a row this way, attention kernels the keys of a block.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

/// The elements of a row that a lane holds at a time.
struct Columns {
  llvm::SmallVector<IndexExpr> index;
  llvm::SmallVector<IndexExpr> inside; // Each exists where this is >= 0. Constant 0: always.
};

class RowLanes {
public:
  explicit RowLanes(const KernelContext &context)
      : tile_(context.tile), space_(context.space), sink_(context.sink),
        invocation_(context.invocation) {}

  /// The columns that this lane holds in a chunk of a row of so many elements. held: per lane; run:
  /// neighbours among them, which divides both `held` and the extent. A column beyond the extent is
  /// moved to the last run, so that what is loaded for it exists.
  Columns columnsOf(const IndexExpr &chunk, const IndexExpr &extent, int64_t held, int64_t run);

  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  /// Combines the values of all lanes in log2(lanes) exchanges; all lanes have the result.
  mlir::Value reduceLanes(mlir::Value value, Combine combine);

private:
  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  const Invocation &invocation_;
};

} // namespace gantry::codegen

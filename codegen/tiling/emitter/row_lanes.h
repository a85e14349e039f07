// Divides the elements of a row among the lanes (invocations) of a subgroup, and combines the
// lanes' values.
//
// Row kernels (row_kernel.h) and reductions of rows (row_reduction.h) divide the columns of a row
// in this way. Attention kernels (online_softmax.h) divide the keys of a block in this way.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

/// The elements of a row that a lane holds at one time.
struct Columns {
  IndexList index;  // The column of each element.
  IndexList inside; // The element exists if this is >= 0. Constant 0: always.
  // With TileShape::shiftedRows, the element exists only if this is >= 0, too. Empty otherwise.
  IndexList begun;
};

class RowLanes {
public:
  explicit RowLanes(const KernelContext &context)
      : tile_(context.tile), space_(context.space), sink_(context.sink), guards_(context.guards),
        loops_(context.loops), invocation_(context.invocation) {}

  /// Returns the columns that this lane holds in a chunk of a row with `extent` elements. A chunk
  /// is the part of a row that the lanes hold at a time (row_kernel.h), or a block of keys
  /// (online_softmax.h). A lane holds `held` columns of each chunk, in runs of `run` neighbours,
  /// and the runs are dealt to the lanes round-robin: lane 0 has the first run of the chunk, lane 1
  /// the second, and so on. `run` must divide `held` and the extent. The index of a column beyond
  /// the extent is moved into the last run, so that loads at it are valid.
  Columns columnsOf(const IndexExpr &chunk, const IndexExpr &extent, int64_t held, int64_t run);

  /// Like columnsOf(), for shifted rows (TileShape::shiftedRows). rowStart: the address of the
  /// row's first element, in elements.
  Columns shiftedColumnsOf(const IndexExpr &chunk, const IndexExpr &rowStart, int64_t held);

  /// Emits `body` for all chunks of a row of tile_.rowLength elements, in a loop that carries
  /// `carried`. Returns the results of the loop. rowStart: as in shiftedColumnsOf().
  Values forChunks(const IndexExpr &rowStart, Values carried,
                   llvm::function_ref<void(const Columns &, Values &)> body);
  /// Returns, for each column, the guard under which it exists: the number of a set of conditions
  /// (guards.h).
  llvm::SmallVector<int32_t> guardsOf(const Columns &columns);

  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  /// Combines the values of all lanes in log2(lanes) exchanges. Every lane gets the result.
  mlir::Value reduceLanes(mlir::Value value, Combine combine);

private:
  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  Guards &guards_;
  Loops &loops_;
  const Invocation &invocation_;
};

} // namespace gantry::codegen

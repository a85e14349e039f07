// Emits row kernels, such as softmax and normalisations: kernels with reductions over the last
// dimension whose results are broadcast back over the same row.
//
// A subgroup shares a row. If TileShape::lanes is 1, as in the baseline kernel, which uses no
// subgroup operations, one invocation computes the row. The row is divided into runs of
// neighbouring elements, which are dealt to the lanes (invocations of the subgroup) round-robin.
// row_reduction.h emits the reductions. A row that fits into registers is loaded once, because the
// tensor evaluator caches the elements that it has evaluated. A longer row is processed in chunks,
// which fit into registers, once for each reduction and once for the result.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/row_lanes.h"
#include "codegen/tiling/emitter/tile_points.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gantry::codegen {

class ResultStore;
class Reductions;
class RowReduction;
class TensorEvaluator;

class RowKernel {
public:
  RowKernel(const KernelContext &context, ResultStore &stores, TensorEvaluator &evaluator,
            Reductions &reductions, RowReduction &rows, RowLanes &lanes)
      : tile_(context.tile), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        stores_(stores), evaluator_(evaluator), reductions_(reductions), rows_(rows),
        lanes_(lanes) {}

  /// Sets invocation.lane, which the other classes need before emit().
  static void placeInvocation(const TileShape &tile, IndexSpace &space, mlir::Value lane,
                              Invocation &invocation);
  /// Emits the kernel. A tile is one row of the result. tile: the tile's coordinates, none with a
  /// CountingSink, which builds nothing. The last coordinate is not used, because the row contains
  /// all elements along the last dimension.
  void emit(llvm::ArrayRef<mlir::Value> tile);

private:
  Point rowOf(llvm::ArrayRef<mlir::Value> tile);
  void storeChunk(const Point &row, const Columns &columns);

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  ResultStore &stores_;
  TensorEvaluator &evaluator_;
  Reductions &reductions_;
  RowReduction &rows_;
  RowLanes &lanes_;
};

} // namespace gantry::codegen

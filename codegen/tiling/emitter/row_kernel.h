// Emits row kernels, such as softmax and normalisations: kernels with reductions over the last
// dimension whose results are broadcast back over the same row.
//
// A subgroup shares a row; in the baseline, one invocation computes it. The row is divided into
// runs of neighbouring elements, which are dealt to the lanes round-robin. A reduction first
// combines the elements of each lane, and then the lanes in log2(lanes) exchanges. A row that fits
// into registers is loaded once, because the tensor evaluator caches the elements that it has
// evaluated. A longer row is processed in chunks, once for each reduction and once for the result.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/body_evaluator.h"
#include "codegen/tiling/emitter/row_lanes.h"
#include "codegen/tiling/emitter/tile_points.h"

namespace gantry::codegen {

class MemoryAccess;
class Reductions;

class RowKernel {
public:
  RowKernel(const KernelContext &context, MemoryAccess &access, TensorEvaluator &evaluator,
            BodyEvaluator &bodies, Reductions &reductions, RowLanes &lanes)
      : tile_(context.tile), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        guards_(context.guards), loops_(context.loops), access_(access), evaluator_(evaluator),
        bodies_(bodies), reductions_(reductions), lanes_(lanes) {}

  /// Sets invocation.lane, which the other classes need before emit().
  static void placeInvocation(const TileShape &tile, IndexSpace &space, mlir::Value lane,
                              Invocation &invocation);
  /// Emits the kernel. tile: the tile's coordinates, none with a CountingSink; the last one is not
  /// used.
  void emit(llvm::ArrayRef<mlir::Value> tile);

private:
  Point rowOf(llvm::ArrayRef<mlir::Value> tile);
  mlir::Value reduce(mlir::linalg::GenericOp op, const Point &row);
  void accumulateChunk(mlir::linalg::GenericOp op, const Point &row, const Columns &columns,
                       Values &sums);
  void storeChunk(const Point &row, const Columns &columns);
  llvm::SmallVector<int32_t> guardsOf(const Columns &columns);
  Values forChunks(Values carried, llvm::function_ref<void(const Columns &, Values &)> body);

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  Loops &loops_;
  MemoryAccess &access_;
  TensorEvaluator &evaluator_;
  BodyEvaluator &bodies_;
  Reductions &reductions_;
  RowLanes &lanes_;
  IndexExpr rowStart_; // The address of the first element of the tile's row in the result.
};

} // namespace gantry::codegen

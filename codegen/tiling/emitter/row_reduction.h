// Emits a reduction over a row that the lanes (invocations) of a subgroup share.
//
// Each lane first combines the elements that it holds, and then the lanes combine their results in
// log2(lanes) exchanges. A row that exceeds the registers is reduced chunk by chunk; a chunk is the
// part of the row that the lanes hold at a time. If no lanes share the row, one invocation reduces
// it.
//
// Row kernels (row_kernel.h) reduce the rows of their result in this way, and kernels with
// TileShape::reducesRows the rows of an operand.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/row_lanes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gantry::codegen {

class BodyEvaluator;
class TensorEvaluator;

class RowReduction {
public:
  RowReduction(const KernelContext &context, TensorEvaluator &evaluator, BodyEvaluator &bodies,
               RowLanes &lanes)
      : tile_(context.tile), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        guards_(context.guards), evaluator_(evaluator), bodies_(bodies), lanes_(lanes) {}

  /// Returns the result of a reduction over one dimension at `point`, an element of the reduction's
  /// result, in all lanes. rowStart: the address of the first element of the row, in elements.
  mlir::Value reduce(mlir::linalg::GenericOp op, const Point &point, const IndexExpr &rowStart);

  /// Returns the address, in elements, of the first element that the reduction at `point` reads
  /// from the operand whose last dimension it reduces (rowOperandOf() in linalg_patterns.h).
  IndexExpr startOf(mlir::linalg::GenericOp op, const Point &point);

private:
  void accumulateChunk(mlir::linalg::GenericOp op, const Point &point, const Columns &columns,
                       Values &sums);

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  TensorEvaluator &evaluator_;
  BodyEvaluator &bodies_;
  RowLanes &lanes_;
};

} // namespace gantry::codegen

// Attention in one kernel: softmax(scores) · values without the scores in memory.
//
// A tile has some rows and all elements of their values. The kernel walks the keys in blocks and
// keeps for each row the maximum score so far, the sum of the exponentials relative to it, and the
// sums of the values weighted by these exponentials. A block with a larger score scales down what
// has been summed. (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Rabe
// and Staats, "Self-attention does not need O(n^2) memory", 2021; Dao et al., "FlashAttention",
// 2022.) The scores come from the tensor evaluator, so whatever stands between their matmul and the
// softmax (scales, masks, conversions) is computed in place.
//
// Where a subgroup shares the tile, its lanes lie along the keys while scores are computed, and
// along the elements of the values while these are summed. In between, each weight is shuffled from
// the lane that has it to all lanes. Each lane sums its own exponentials; the lanes' sums are added
// at the end.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/attention.h"
#include "codegen/tiling/emitter/accumulation.h"
#include "codegen/tiling/emitter/row_lanes.h"

namespace gantry::codegen {

class OnlineSoftmax {
public:
  OnlineSoftmax(const KernelContext &context, TensorEvaluator &evaluator,
                Accumulation &accumulation, RowLanes &lanes)
      : tile_(context.tile), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        loops_(context.loops), evaluator_(evaluator), accumulation_(accumulation), lanes_(lanes) {}

  /// The attention's result at these points.
  Values evaluate(const Attention &attention, llvm::ArrayRef<Point> points, const PointGrid &grid);

private:
  struct Rows;
  struct RowState;
  std::optional<Rows> rowsOf(const Attention &attention, llvm::ArrayRef<Point> points);
  void emitBlock(const Attention &attention, const Rows &rows, const IndexExpr &block,
                 llvm::ArrayRef<Point> points, const PointGrid &grid, Values &carried);
  Values scoresOf(const Attention &attention, const Rows &rows, const Columns &keys);
  Values weigh(llvm::ArrayRef<mlir::Value> scores, const Columns &keys, RowState &row);
  mlir::Value maskedScore(mlir::Value score, const IndexExpr &inside, mlir::Value none,
                          mlir::Value zero);
  void addWeighted(const Attention &attention, const Rows &rows, const IndexExpr &block,
                   llvm::ArrayRef<Values> weights, llvm::ArrayRef<Point> points,
                   const PointGrid &grid, Values &sums);
  IndexExpr clampedKey(const IndexExpr &key, const IndexExpr &last);
  mlir::Value fromLane(mlir::Value value, int64_t lane, mlir::Type type);
  mlir::Value reciprocalOf(mlir::Value maximum, mlir::Value total, const IndexExpr &extent);
  mlir::Value constant(float value);

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Loops &loops_;
  TensorEvaluator &evaluator_;
  Accumulation &accumulation_;
  RowLanes &lanes_;
};

} // namespace gantry::codegen

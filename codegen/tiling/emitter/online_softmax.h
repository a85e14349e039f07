// Computes an attention, softmax(scores) · values, in one kernel that does not store the scores.
// scores = queries · keysᵀ, and `values` has a vector for each key (attention.h).
//
// A tile, the part of the result that an invocation or a subgroup computes, has some rows of the
// result and all elements of these rows. The kernel processes the keys in blocks. For each row it
// keeps the maximum score so far, the sum of exp(score - maximum), and the values summed with these
// exponentials as weights. If a block contains a larger score, the sums so far are scaled to the
// new maximum. (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Rabe and
// Staats, "Self-attention does not need O(n^2) memory", 2021; Dao et al., "FlashAttention", 2022.)
// The tensor evaluator computes the scores, so operations between their matmul and the softmax
// (scales, masks, conversions) are fused.
//
// If a subgroup shares the tile, the keys of a block are divided among its lanes (invocations)
// while scores are computed, and the elements of a row while values are summed. In between, each
// weight is shuffled from the lane that computed it to all lanes. Each lane sums its own
// exponentials; the lanes' sums are added at the end.
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

  /// Returns the attention's result at these points (elements of the result).
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

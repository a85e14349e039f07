// Emits reductions: a reduction becomes a loop nest with one accumulator for each point (element of
// the reduction's result) that an invocation computes.
//
// Attentions are emitted by online_softmax.h, matmuls with cooperative matrices by matmul.h, and
// reductions of rows that the lanes (invocations) of a subgroup share by row_reduction.h. Results
// are cached by point, so a point is reduced once.
//
// A long sum is computed in blocks: each block is summed from zero and then added to the total. The
// rounding error then grows with the number of blocks + the block length instead of with their
// product (Higham, "The accuracy of floating point summation", 1993).
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/accumulation.h"

namespace gantry::codegen {

class DotProducts;
class Matmul;
class OnlineSoftmax;
class RowReduction;
class SharedMemory;

class Reductions {
public:
  /// The classes that emit the parts of a reduction.
  struct Parts {
    TensorEvaluator &evaluator;
    Accumulation &accumulation;
    SharedMemory &shared;
    Staging &staging;
    DotProducts &dots;
    OnlineSoftmax &attention;
    Matmul &matmul;
    RowReduction &rows;
  };
  Reductions(const KernelContext &context, const Parts &parts)
      : tile_(context.tile), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        loops_(context.loops), parts_(parts) {}

  /// Returns the reduction's results at these points.
  Values evaluate(mlir::linalg::GenericOp op, llvm::ArrayRef<Point> points, const PointGrid &grid);
  /// Stores the result of a reduction at a point. From now on evaluate() returns it.
  void keep(mlir::linalg::GenericOp op, const Point &point, mlir::Value value) {
    results_[op][keyOf(point)] = value;
  }

private:
  struct Level;
  struct Nest;
  Values reduce(mlir::linalg::GenericOp op, llvm::ArrayRef<Point> points, const PointGrid &grid);
  Values reduceRows(mlir::linalg::GenericOp op, llvm::ArrayRef<Point> points);
  Nest nestOf(mlir::linalg::GenericOp op, llvm::ArrayRef<Point> points, const PointGrid &grid);
  void emitLevel(const Nest &nest, size_t level, const LoopIndex &offsets, const IndexExpr &stage,
                 Values &accumulators);
  void emitRest(const Nest &nest, size_t level, const LoopIndex &offsets, const IndexExpr &stage,
                Values &accumulators);
  void emitBlock(const Nest &nest, const LoopIndex &offsets, const IndexExpr &stage, Values &sums);
  void stageOperands(const Nest &nest, const LoopIndex &offsets, const IndexExpr &stage);
  void emitStep(const Nest &nest, const LoopIndex &offsets, Values &accumulators);
  int64_t unrollOf(size_t reductionDim, const IndexExpr &extent) const;

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Loops &loops_;
  const Parts parts_;
  std::map<mlir::Operation *, std::map<std::vector<IndexExpr>, mlir::Value>> results_;
};

} // namespace gantry::codegen

// Stages operands of a reduction in shared memory: the invocations of a workgroup together load
// each element that the workgroup needs once, and then read it from shared memory.
//
// The part of an operand that a workgroup needs for some steps of the reduction is a box. (A step
// is one combination of values of the reduction's loop counters.) The start and the extents of the
// box follow from the operand's index expressions at the points (elements of the result) that the
// workgroup computes: the terms of an index that all invocations share are the start, and the range
// of the other terms is the extent. The elements of the box are evaluated before they are stored,
// so a pad or a dequantisation that is fused into the operand is computed once per element.
//
// Kernels with cooperative matrices do not use this class: Matmul (matmul.h) stages their operands.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/memory/shared_memory.h"

namespace gantry::codegen {

class ResultStore;
class TensorEvaluator;

/// A stage: the steps of a reduction whose operands are in shared memory at one time.
struct Stage {
  LoopIndex offsets;                // The first step, as coordinates of all loops.
  llvm::SmallVector<int64_t> spans; // The number of steps from there on, by reduction dimension.
  // The stage's number, which selects one of the copies of each box (TileShape::buffers).
  IndexExpr number{0};
};

class Staging {
public:
  Staging(const KernelContext &context, SharedMemory &shared, ResultStore &stores,
          TensorEvaluator &evaluator)
      : tile_(context.tile), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        guards_(context.guards), shared_(shared), stores_(stores), evaluator_(evaluator) {}

  /// Stages the operands of `op` whose elements the workgroup reads at least twice on average.
  /// points: the invocation's points of the reduction's result.
  void stage(mlir::linalg::GenericOp op, const Stage &stage, llvm::ArrayRef<Point> points,
             const PointGrid &grid);
  /// Returns whether the last stage() of the operand's operation staged it.
  bool isStaged(mlir::OpOperand *operand) const { return boxes_.count(operand) != 0; }
  /// Reads the elements of a staged operand at these loop coordinates.
  Values read(mlir::linalg::GenericOp op, mlir::OpOperand *operand,
              llvm::ArrayRef<LoopIndex> loops);

  /// Stores the result through shared memory, so that neighbouring invocations store neighbouring
  /// vectors. points: those of this invocation. Returns false, and stores nothing, if
  /// TileShape::stageResult is not set, if no operand is staged, or if the result does not consist
  /// of whole vectors of four elements.
  bool storeResult(llvm::ArrayRef<Point> points, llvm::ArrayRef<mlir::Value> values);

private:
  std::optional<Box> boxFor(mlir::linalg::GenericOp op, mlir::OpOperand *operand,
                            llvm::ArrayRef<IndexExpr> steps, int64_t readers,
                            llvm::ArrayRef<Point> points);
  void fill(mlir::OpOperand *operand, const Box &box, const PointGrid &grid);
  std::optional<Box> resultBox(llvm::ArrayRef<Point> points);
  void copyOut(const Box &box);

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  SharedMemory &shared_;
  ResultStore &stores_;
  TensorEvaluator &evaluator_;
  std::map<mlir::OpOperand *, Box> boxes_; // The boxes of the staged operands.
};

} // namespace gantry::codegen

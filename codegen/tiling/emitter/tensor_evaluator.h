// Evaluates tensors of a dispatch at points: the walk that generates a kernel.
//
// The evaluator pulls the elements at these points from the operations that produce them. It
// inlines everything on the way: pads become guards, slices and views become index arithmetic,
// elementwise operations are cloned per point (body_evaluator.h), and reductions become loop nests
// (reduction.h). The walk ends at loads (memory_access.h).
//
// To support another operation: add a case to evaluateDistinct, and teach isCompute in
// codegen/passes/form_dispatches.cpp to fuse it.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/memory_access.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

class BodyEvaluator;
class Reductions;

class TensorEvaluator {
public:
  TensorEvaluator(const KernelContext &context, MemoryAccess &access, BodyEvaluator &bodies,
                  Reductions &reductions)
      : space_(context.space), sink_(context.sink), shapes_(context.shapes),
        guards_(context.guards), access_(access), bodies_(bodies), reductions_(reductions),
        keepsElements_(context.tile.rowLength != 0) {}

  /// The tensor's elements at these points. Null values if sink.unsupported() is set. grid: how the
  /// points of the kernel's result (or of a reduction) are arranged that are evaluated together.
  Values evaluate(mlir::Value tensor, llvm::ArrayRef<Point> points, const PointGrid &grid);
  /// A scalar (float, integer or index) that the kernel's function defines outside of any body.
  mlir::Value scalar(mlir::Value value);

  /// The points of its operand that a slice or reshape shows at these points.
  std::vector<Point> viewedPoints(mlir::Operation *view, llvm::ArrayRef<Point> points);

  static constexpr int32_t kNeverInside = -1;
  /// The points that a pad reads.
  struct PaddedPoints {
    std::vector<Point> inner;             // Points of the source that may lie inside.
    llvm::SmallVector<int32_t> inside;    // By point: the pad's own guard, or kNeverInside.
    llvm::SmallVector<unsigned> position; // By point: its place in `inner`.
  };
  PaddedPoints paddedPoints(mlir::tensor::PadOp pad, llvm::ArrayRef<Point> points);

private:
  using Evaluate = llvm::function_ref<Values(llvm::ArrayRef<Point>)>;
  Values onDistinctPoints(mlir::Value tensor, llvm::ArrayRef<Point> points, Evaluate evaluate);
  Values evaluateDistinct(mlir::Value tensor, llvm::ArrayRef<Point> points, const PointGrid &grid);
  Values evaluateElementwise(mlir::linalg::GenericOp op, unsigned resultNumber,
                             llvm::ArrayRef<Point> points, const PointGrid &grid);
  Values evaluatePad(mlir::tensor::PadOp pad, llvm::ArrayRef<Point> points, const PointGrid &grid);
  Values evaluateConcat(mlir::tensor::ConcatOp concat, llvm::ArrayRef<Point> points,
                        const PointGrid &grid);
  mlir::Value splatOf(mlir::Operation *op, mlir::Type element);

  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  MemoryAccess &access_;
  BodyEvaluator &bodies_;
  Reductions &reductions_;

  // Row kernels read the elements of a row several times. Their evaluator keeps what it has
  // evaluated, by tensor and block and then by guard and index.
  using PointKey = std::pair<int32_t, std::vector<IndexExpr>>;
  const bool keepsElements_;
  std::map<std::pair<void *, mlir::Block *>, std::map<PointKey, mlir::Value>> kept_;
};

} // namespace gantry::codegen

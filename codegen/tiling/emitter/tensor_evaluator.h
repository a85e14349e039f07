// Evaluates tensors of a dispatch (the operations of one kernel) at points. A point is one element
// of a tensor (sink/point.h).
//
// To evaluate a tensor, the evaluator emits the operation that produces it and evaluates the
// operands of that operation. This recursion, which begins at the kernel's result, generates the
// kernel. Pads become guards, the conditions under which a point lies inside its tensor (guards.h).
// Slices and views become index arithmetic, elementwise operations are cloned per point
// (body_evaluator.h), and reductions become loop nests (reduction.h). The recursion ends at the
// kernel's arguments, which are loaded (memory/memory_access.h).
//
// To support another operation: add a case to evaluateDistinct, and add the operation to
// isComputeOp in codegen/passes/fusion_groups.cpp.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/memory/memory_access.h"

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

  /// Returns the tensor's elements at these points. Values may be null if sink.unsupported() is
  /// set, that is, if a kernel cannot compute an operation. grid: the arrangement of the points of
  /// the kernel's result, or of a reduction, for which the elements are evaluated.
  Values evaluate(mlir::Value tensor, llvm::ArrayRef<Point> points, const PointGrid &grid);
  /// Returns a scalar (float, integer or index) that the kernel's function defines outside of any
  /// body.
  mlir::Value scalar(mlir::Value value);

  /// Returns the points of the operand of a slice or reshape that correspond to these points of its
  /// result.
  std::vector<Point> viewedPoints(mlir::Operation *view, llvm::ArrayRef<Point> points);

  static constexpr int32_t kNeverInside = -1;
  /// The points of a pad's source that correspond to points of its result.
  struct PaddedPoints {
    std::vector<Point> inner; // The points of the source, without those that are never inside it.
    // By point of the result: the guard that holds if the point lies in the source; kNeverInside if
    // it never does.
    llvm::SmallVector<int32_t> inside;
    // By point of the result: its position in `inner`, if it is not kNeverInside.
    llvm::SmallVector<unsigned> position;
  };
  /// Returns the points of the pad's source for these points of its result.
  PaddedPoints paddedPoints(mlir::tensor::PadOp pad, llvm::ArrayRef<Point> points);

private:
  using Evaluate = llvm::function_ref<Values(llvm::ArrayRef<Point>)>;
  Values onDistinctPoints(const void *key, llvm::ArrayRef<Point> points, Evaluate evaluate);
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

  // Row kernels read the elements of a row several times. Their evaluator keeps the elements that
  // it has evaluated, by tensor and block of the IR and then by guard and index.
  using PointKey = std::pair<int32_t, std::vector<IndexExpr>>;
  const bool keepsElements_;
  std::map<std::pair<const void *, mlir::Block *>, std::map<PointKey, mlir::Value>> kept_;
};

} // namespace gantry::codegen

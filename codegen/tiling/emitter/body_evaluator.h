// Evaluates the body of a linalg operation at several points. A point is one element of the
// operation's result and, in a reduction, one position of the reduction's loops.
//
// Each operation of the body is emitted for all points before the next operation, so that the loads
// of all points can be combined. Index arithmetic is not cloned but evaluated symbolically, as
// IndexExprs (index_expr.h). An index that is computed in another way becomes a variable.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

class TensorEvaluator;

/// The points at which a body is evaluated. `loops` and `guards` (guards.h) have one entry per
/// point.
struct BodyPoints {
  llvm::ArrayRef<LoopIndex> loops; // The loops' coordinates.
  llvm::ArrayRef<int32_t> guards;
  llvm::ArrayRef<Values> arguments; // By block argument of the body, then by point.
  const PointGrid &grid;
};

class BodyEvaluator {
public:
  BodyEvaluator(const KernelContext &context, TensorEvaluator &evaluator)
      : readsTexels_(context.readsTexels), space_(context.space), sink_(context.sink),
        shapes_(context.shapes), guards_(context.guards), evaluator_(evaluator) {}

  /// Returns the values that the body yields: by operand of the yield, then by point.
  llvm::SmallVector<Values> evaluate(mlir::linalg::GenericOp op, const BodyPoints &points);

  /// Returns the elements of an operand at the loop coordinates, by point. The values are null if
  /// the body does not use the operand, or if the sink only counts.
  Values elementsOf(mlir::linalg::GenericOp op, mlir::OpOperand &operand,
                    llvm::ArrayRef<LoopIndex> loops, llvm::ArrayRef<int32_t> guards,
                    const PointGrid &grid);

private:
  struct Evaluation;
  bool evaluateIndex(Evaluation &run, mlir::Operation &op);
  void evaluateExtract(Evaluation &run, mlir::Operation &op);
  void cloneScalar(Evaluation &run, mlir::Operation &op);
  mlir::Value scalarAt(Evaluation &run, mlir::Value value, size_t point);
  IndexExpr indexAt(Evaluation &run, mlir::Value value, size_t point);

  const bool readsTexels_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  TensorEvaluator &evaluator_;
  // The variables of indices that the body computes from data (KernelSink::symbolOf).
  llvm::DenseMap<mlir::Value, IndexExpr> variables_;
};

} // namespace gantry::codegen

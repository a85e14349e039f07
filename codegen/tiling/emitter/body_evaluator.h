// Evaluates the body of a linalg operation at several points.
//
// The body is cloned operation by operation, each for all points, so that the loads of all points
// are seen together. Index arithmetic is not cloned: it stays symbolic, as IndexExprs, and any
// other index becomes a variable of its own.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

class TensorEvaluator;

/// The points at which a body is evaluated. All lists but `arguments` are by point.
struct BodyPoints {
  llvm::ArrayRef<LoopIndex> loops; // The loops' coordinates.
  llvm::ArrayRef<int32_t> guards;
  llvm::ArrayRef<Values> arguments; // By block argument of the body, then by point.
  const PointGrid &grid;
};

class BodyEvaluator {
public:
  BodyEvaluator(const KernelContext &context, TensorEvaluator &evaluator)
      : space_(context.space), sink_(context.sink), shapes_(context.shapes), evaluator_(evaluator) {
  }

  /// The values that the body yields: by operand of the yield, then by point.
  llvm::SmallVector<Values> evaluate(mlir::linalg::GenericOp op, const BodyPoints &points);

  /// The elements of an operand that the body reads, by point. Null values where it reads none.
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

  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  TensorEvaluator &evaluator_;
  llvm::DenseMap<mlir::Value, IndexExpr> variables_; // For indices that are not symbolic.
};

} // namespace gantry::codegen

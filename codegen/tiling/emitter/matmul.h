// Matmuls and convolutions by cooperative matrices: the subgroups of a workgroup multiply small
// matrices with the device's own instructions.
//
// A workgroup stages a stretch of both operands in shared memory as f16. Each subgroup multiplies
// the parts that its blocks of the result need. Only a whole subgroup can read the sums, so they
// pass through shared memory to the invocations, which use them like those of any other reduction:
// bias, activation, conversion, and guarded stores at ragged edges.
//
// The staged operands are matrices, not the parts of tensors that their elements come from, because
// a matrix in memory must begin at a multiple of 16 bytes. For a convolution the windows lie side
// by side (implicit GEMM). Elements are evaluated, so pads are included. Elements beyond the last
// step of the reduction are zero in both operands; those beyond the result's edge may be anything.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/shared_memory.h"

namespace gantry::codegen {

class TensorEvaluator;

class Matmul {
public:
  Matmul(const KernelContext &context, SharedMemory &shared, TensorEvaluator &evaluator)
      : tile_(context.tile), matrix_(context.tile.matrix), space_(context.space),
        sink_(context.sink), shapes_(context.shapes), guards_(context.guards),
        loops_(context.loops), places_(context.invocation.matrix), shared_(shared),
        evaluator_(evaluator) {}

  /// The reduction's sums at the invocation's own points. Other points are not supported.
  Values evaluate(mlir::linalg::GenericOp op, llvm::ArrayRef<Point> points, const PointGrid &grid);

private:
  struct Operand;
  struct Product;
  bool placeOperands(Product &product);
  void divideLoops(Product &product);
  Values zeroSums();
  void emitLoops(const Product &product, llvm::ArrayRef<unsigned> looped,
                 const LoopIndex &coordinates, Values &sums);

  void stageOperand(const Product &product, const Operand &operand, const LoopIndex &coordinates,
                    const IndexExpr &firstStep);
  Point stagedPoint(const Product &product, const Operand &operand, const LoopIndex &coordinates,
                    const IndexExpr &place, const IndexExpr &step, int32_t &stepGuard);
  Values zeroedOutside(Values values, llvm::ArrayRef<int32_t> guards);
  void storeHalves(const IndexExpr &address, llvm::ArrayRef<mlir::Value> values);

  void multiplyStage(const Product &product, Values &sums);
  mlir::Value loadMatrix(const Operand &operand, const IndexExpr &place, int64_t step);
  Values readSums(const Product &product, llvm::ArrayRef<mlir::Value> sums);
  Values loadSums(const IndexExpr &address, mlir::Type type);

  Point pointInTile(const IndexExpr &row, const IndexExpr &column);
  int64_t blockRows() const { return tile_.result[matrix_.rows] / matrix_.vectorsPerLane(); }
  int64_t blockColumns() const { return tile_.result[matrix_.columns] / 4; }

  const TileShape &tile_;
  const MatrixTile &matrix_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  Loops &loops_;
  const MatrixPlaces &places_;
  SharedMemory &shared_;
  TensorEvaluator &evaluator_;
};

} // namespace gantry::codegen

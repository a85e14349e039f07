// Computes matmuls and convolutions with cooperative matrices: the subgroups of a workgroup
// multiply small matrices with an instruction of the device.
//
// The reduction steps are processed in stages. In each stage a workgroup stages (copies to shared
// memory, as f16) the part of both operands that it needs for MatrixTile::depth steps. A tile is
// the part of the result that a workgroup computes; it consists of blocks, each the result of one
// matrix multiplication (MatrixTile in tile_shape.h). Each subgroup multiplies the rows and columns
// that its blocks need. How the sums are distributed over the invocations of a subgroup is known
// only to the device, so each subgroup writes its sums to shared memory, and each invocation then
// reads the sums of its own elements of the result. From there on, the kernel is generated like
// that of any other reduction: the fused operations (bias, activation, conversion), then the
// stores, which are guarded where a tile extends beyond the result.
//
// In shared memory an operand is a matrix. One dimension is the rows (or the columns) of the tile,
// the other is the steps of the stage. The rows of the matrix begin at multiples of 16 bytes, as
// matrix loads require. For a convolution this matrix contains the window of each pixel (implicit
// GEMM). The elements of the matrix are not copied from the operand's buffer but computed by the
// tensor evaluator, so operations that are fused into the operand, such as a pad, are applied while
// it is staged. Elements beyond the last step of the reduction are zero in both operands. Elements
// beyond the result's edge have any value, because the sums that they affect are not stored.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/memory/shared_memory.h"

namespace gantry::codegen {

class TensorEvaluator;

class Matmul {
public:
  Matmul(const KernelContext &context, SharedMemory &shared, TensorEvaluator &evaluator)
      : tile_(context.tile), matrix_(context.tile.matrix), space_(context.space),
        sink_(context.sink), shapes_(context.shapes), guards_(context.guards),
        loops_(context.loops), places_(context.invocation.matrix), shared_(shared),
        evaluator_(evaluator) {}

  /// Returns the reduction's sums at these points (elements) of the result, which must be those
  /// that the invocation computes (Invocation::matrix.points). With other points, or with a
  /// reduction that is not a sum of products of two f16 factors (halfFactorsOf in matmul_tiles.h),
  /// the generation of the kernel fails.
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

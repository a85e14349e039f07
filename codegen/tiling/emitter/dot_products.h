// Computes sums of int8 products with the device's 4 x 8-bit integer dot product. Four steps of a
// reduction (a step is one combination of values of its loop counters) read one 32-bit word of each
// factor, and one instruction computes the sum of the four products.
//
// The instruction takes signed bytes. 128 is subtracted from unsigned bytes and from their zero
// points, because x - zero = (x - 128) - (zero - 128). With zero points, four steps add
//   sum((a - za) * (b - zb)) = sum(a * b) - za * sum(b) - zb * sum(a) + 4 * za * zb
// to the accumulator. The sum of four bytes is their dot product with four ones. All arithmetic is
// modulo 2^32, as in kernels without dot products.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"
#include "codegen/tiling/linalg_patterns.h"

namespace gantry::codegen {

class MemoryAccess;
class TensorEvaluator;

class DotProducts {
public:
  DotProducts(const KernelContext &context, MemoryAccess &access, TensorEvaluator &evaluator)
      : tile_(context.tile), sink_(context.sink), shapes_(context.shapes), guards_(context.guards),
        access_(access), evaluator_(evaluator) {}

  /// Adds the products of the factors at these steps to the accumulators, one for each point
  /// (element of the reduction's result). Each group of four consecutive steps must be neighbours
  /// along the dimension that dotDimensionOf() (linalg_patterns.h) returns.
  void accumulate(mlir::linalg::GenericOp op, llvm::ArrayRef<ByteFactor> factors,
                  llvm::ArrayRef<LoopIndex> steps, llvm::ArrayRef<Point> points,
                  const PointGrid &grid, Values &accumulators);

private:
  struct Factor;
  Factor load(mlir::linalg::GenericOp op, const ByteFactor &factor, llvm::ArrayRef<LoopIndex> steps,
              llvm::ArrayRef<Point> points, const PointGrid &grid);
  void loadZeroPoints(mlir::linalg::GenericOp op, const ByteFactor &factor,
                      llvm::ArrayRef<LoopIndex> steps, llvm::ArrayRef<Point> points,
                      const PointGrid &grid, Factor &result);
  Point factorPoint(mlir::linalg::GenericOp op, mlir::OpOperand *operand, const Point &point,
                    llvm::ArrayRef<IndexExpr> step);
  void sumBytes(Factor &factor, const Factor &other);
  void addProducts(llvm::ArrayRef<Factor> factors, unsigned group, size_t count, unsigned point,
                   mlir::Value &accumulator);
  mlir::Value zeroPointOf(const Factor &factor, unsigned point);

  // These functions return one word for each group of four consecutive points (elements) of a
  // tensor of bytes.
  Values wordsOf(mlir::Value tensor, llvm::ArrayRef<Point> points, const PointGrid &grid);
  std::optional<Values> paddedWords(mlir::Value tensor, llvm::ArrayRef<Point> points,
                                    const PointGrid &grid);
  Values packedWords(mlir::Value tensor, llvm::ArrayRef<Point> points, const PointGrid &grid);

  mlir::Value constant(int64_t value);
  mlir::Value dotProduct(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);

  const TileShape &tile_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  MemoryAccess &access_;
  TensorEvaluator &evaluator_;
};

} // namespace gantry::codegen

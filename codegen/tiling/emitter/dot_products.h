// Sums of int8 products by the device's 4 x 8-bit integer dot product: four steps of a reduction
// read one 32-bit word of each factor, and one instruction adds their four products.
//
// Words hold signed bytes. Unsigned bytes are taken less 128, and so are their zero points, because
// x - zero = (x - 128) - (zero - 128). With zero points, four steps add
//   sum((a - za) * (b - zb)) = sum(a * b) - za * sum(b) - zb * sum(a) + 4 * za * zb
// where a sum of bytes is their dot product with four ones. All arithmetic is modulo 2^32, as it is
// without dot products.
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

  /// Adds the products of the factors at these steps to the accumulators, one per point. Each four
  /// steps in turn are neighbours along the reduction dimension of dotDimensionOf.
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

  // Each four points of a tensor of bytes as one word.
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

// Implements the pass center-zero-points (Passes.td). In a matmul of bytes, a factor is a byte
// minus its zero point. The pass moves zero points to the middle of the range of the bytes, so that
// the difference is a signed byte, and adds a term to the result that makes up for the change.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/constant_bytes.h"
#include "codegen/passes/passes.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_CENTERZEROPOINTS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns the elements of a factor of a matmul, minus its zero point, in row-major order. None if
/// the factor is not a constant or its zero point is a tensor.
std::optional<std::vector<int32_t>> integersOf(const ByteFactor &factor) {
  Attribute value;
  auto type = cast<RankedTensorType>(factor.operand->get().getType());
  if (factor.zeros || !matchPattern(factor.operand->get(), m_Constant(&value)))
    return std::nullopt;
  std::vector<int32_t> integers(type.getNumElements());
  auto integer = [&](uint8_t byte) {
    return (factor.isSigned ? static_cast<int8_t>(byte) : int32_t{byte}) -
           static_cast<int32_t>(factor.zeroPoint);
  };
  const llvm::ArrayRef<char> bytes = constantBytes(value);
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    integers.assign(integers.size(),
                    integer(static_cast<uint8_t>(splat.getSplatValue<APInt>().getZExtValue())));
  else if (bytes.size() == integers.size())
    llvm::transform(bytes, integers.begin(),
                    [&](char byte) { return integer(static_cast<uint8_t>(byte)); });
  else
    return std::nullopt;
  return integers;
}

/// A constant tensor over some of the result's dimensions, which is added to the result.
struct Addend {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<unsigned> dims; // The corresponding dimensions of the result.
  std::vector<int32_t> values;
};

/// Returns the sums of the constant over all reduction loops, times `factor`. integers: the
/// elements of the constant minus its zero point. None if the constant does not depend on every
/// reduction loop, or if it depends on a parallel loop on which the result does not depend. Also
/// none if an index of the constant is not the counter of one loop, unless its dimension has only
/// one element.
std::optional<Addend> sumsOf(linalg::GenericOp op, OpOperand *constant,
                             llvm::ArrayRef<int32_t> integers, int64_t factor) {
  const AffineMap map = op.getMatchingIndexingMap(constant);
  const AffineMap outputMap = op.getIndexingMapsArray().back();
  const auto shape = cast<RankedTensorType>(constant->get().getType()).getShape();
  const auto iterators = op.getIteratorTypesArray();
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      !outputMap.isProjectedPermutation())
    return std::nullopt;
  for (auto [dim, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::reduction && !map.isFunctionOfDim(dim))
      return std::nullopt;
  Addend addend;
  // The stride in the addend of each dimension of the constant; 0 for a reduced dimension.
  llvm::SmallVector<int64_t> strides(shape.size(), 0);
  int64_t size = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(d));
    if (!dim && shape[d] != 1)
      return std::nullopt; // Only the first element along this dimension is read.
    if (!dim || iterators[dim.getPosition()] == utils::IteratorType::reduction)
      continue;
    const auto position = outputMap.getResultPosition(dim);
    if (!position)
      return std::nullopt;
    addend.shape.insert(addend.shape.begin(), shape[d]);
    addend.dims.insert(addend.dims.begin(), *position);
    strides[d] = size;
    size *= shape[d];
  }
  llvm::SmallVector<uint32_t> sums(size, 0); // Modulo 2^32, like the matmul's sums.
  for (size_t i = 0; i < integers.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      at += rest % shape[d] * strides[d];
    sums[at] += static_cast<uint32_t>(integers[i]) * static_cast<uint32_t>(factor);
  }
  addend.values.assign(sums.begin(), sums.end());
  return addend;
}

/// Returns the operand's indexing map with the result's dimensions in place of the loops. None if
/// an index of the operand is neither a dimension of the result nor a constant.
std::optional<AffineMap> overResult(linalg::GenericOp op, OpOperand *operand) {
  const AffineMap outputMap = op.getIndexingMapsArray().back();
  llvm::SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
    if (const auto position = outputMap.getResultPosition(expr))
      expr = getAffineDimExpr(*position, op.getContext());
    else if (!isa<AffineConstantExpr>(expr))
      return std::nullopt;
    exprs.push_back(expr);
  }
  return AffineMap::get(outputMap.getNumResults(), 0, exprs, op.getContext());
}

/// Extends a byte to i32.
Value extended(OpBuilder &builder, Location loc, Value byte, bool isSigned) {
  const Type i32 = builder.getI32Type();
  return isSigned ? builder.create<arith::ExtSIOp>(loc, i32, byte).getResult()
                  : builder.create<arith::ExtUIOp>(loc, i32, byte).getResult();
}

struct CenterZeroPointsPass : impl::CenterZeroPointsBase<CenterZeroPointsPass> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      const auto factors = byteFactorsOf(op);
      if (!factors || !dotDimensionOf(reductionExtentsOf(op)))
        return;
      for (unsigned side : {0u, 1u})
        if (center(op, (*factors)[side], (*factors)[1 - side], side == 1))
          return;
    });
  }

  /// Moves the zero point of `factor` to the middle of the range of its bytes, and adds a term to
  /// the sum that makes up for the change. `constant` is the other factor. swapped: `factor` is the
  /// second factor of the product. Returns whether the operation has been changed.
  static bool center(linalg::GenericOp op, const ByteFactor &factor, const ByteFactor &constant,
                     bool swapped) {
    const int64_t middle = factor.isSigned ? 0 : 128;
    if (!factor.zeros && factor.zeroPoint == middle)
      return false;
    const auto integers = integersOf(constant);
    auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    auto empty = fill ? fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() : tensor::EmptyOp();
    if (!integers || !empty)
      return false;
    const auto addend =
        sumsOf(op, constant.operand, *integers, factor.zeros ? 1 : middle - factor.zeroPoint);
    const auto zerosMap = factor.zeros ? overResult(op, factor.zeros) : std::optional(AffineMap());
    if (!addend || !zerosMap)
      return false;

    OpBuilder builder(op);
    const Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    const Type i32 = builder.getI32Type();
    const AffineMap outputMap = op.getIndexingMapsArray().back();
    ByteFactor centered = factor;
    centered.zeroPoint = middle;
    centered.zeros = nullptr;
    const ByteFactor *sides[] = {swapped ? &constant : &centered, swapped ? &centered : &constant};
    auto sum = builder.create<linalg::GenericOp>(
        loc, type, ValueRange{sides[0]->operand->get(), sides[1]->operand->get()},
        ValueRange{op.getDpsInits()[0]},
        llvm::ArrayRef<AffineMap>{op.getMatchingIndexingMap(sides[0]->operand),
                                  op.getMatchingIndexingMap(sides[1]->operand), outputMap},
        op.getIteratorTypesArray(), [&](OpBuilder &body, Location at, ValueRange arguments) {
          Value values[2];
          for (unsigned i : {0u, 1u}) {
            values[i] = extended(body, at, arguments[i], sides[i]->isSigned);
            if (sides[i]->zeroPoint != 0)
              values[i] = body.create<arith::SubIOp>(
                  at, values[i], body.create<arith::ConstantIntOp>(at, sides[i]->zeroPoint, 32));
          }
          const Value product = body.create<arith::MulIOp>(at, values[0], values[1]);
          body.create<linalg::YieldOp>(
              at, body.create<arith::AddIOp>(at, arguments[2], product).getResult());
        });

    auto addendType = RankedTensorType::get(addend->shape, i32);
    const Value sums = builder.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(addendType, llvm::ArrayRef<int32_t>(addend->values)));
    llvm::SmallVector<AffineExpr> exprs;
    for (unsigned dim : addend->dims)
      exprs.push_back(builder.getAffineDimExpr(dim));
    const AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
    llvm::SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
    llvm::SmallVector<Value> operands{sum.getResult(0), sums};
    llvm::SmallVector<AffineMap> maps{
        identity, AffineMap::get(type.getRank(), 0, exprs, builder.getContext())};
    if (factor.zeros) {
      operands.push_back(factor.zeros->get());
      maps.push_back(*zerosMap);
    }
    maps.push_back(identity);
    auto added = builder.create<linalg::GenericOp>(
        loc, type, operands, ValueRange{empty.getResult()}, maps, parallel,
        [&](OpBuilder &body, Location at, ValueRange arguments) {
          Value term = arguments[1];
          if (factor.zeros) {
            const Value zero = extended(body, at, arguments[2], factor.zerosSigned);
            const Value shift = body.create<arith::SubIOp>(
                at, body.create<arith::ConstantIntOp>(at, middle, 32), zero);
            term = body.create<arith::MulIOp>(at, term, shift);
          }
          body.create<linalg::YieldOp>(
              at, body.create<arith::AddIOp>(at, arguments[0], term).getResult());
        });
    copyTensorName(op, added);
    op.getResult(0).replaceAllUsesWith(added.getResult(0));
    op.erase();
    return true;
  }
};

} // namespace
} // namespace gantry::codegen

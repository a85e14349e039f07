// Implements the pass sum-integers (Passes.td), which computes matmuls and convolutions of tensors
// that are dequantized from 8 bits as sums of integer products, and multiplies the sums by the
// scales.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <optional>

namespace gantry::codegen {

#define GEN_PASS_DEF_SUMINTEGERS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// An operand of a sum of products that is dequantized from 8 bits: its elements are (q - zero
/// point) * scale, where q is a byte.
struct Dequantized {
  linalg::GenericOp op;      // The dequantization.
  tensor::PadOp pad;         // The pad with zeros between op and the sum, or null.
  Value quantized;           // The tensor of bytes.
  Value integer, scale;      // Values of op's body: q - zero point as i32, and the scale as f32.
  int64_t zeroPoint = 0;     // The zero point if constantZero is set.
  bool constantZero = false; // Whether the zero point is one constant, and not a tensor.
  int64_t magnitude = 0;     // Upper limit of |q - zero point|.
};

/// Returns whether a value in a body is independent of an argument of the body.
bool isIndependentOf(Value value, BlockArgument argument) {
  if (value == argument)
    return false;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != argument.getOwner())
    return true;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isIndependentOf(operand, argument); });
}

/// Sets the integer, the tensor of bytes, the zero point and the magnitude of `found`. converted:
/// the value that the body of found.op converts to f32. Returns false if this value is not a byte
/// or a byte minus a zero point, if the scale depends on the byte, if the map of the bytes is not
/// the identity, or if there is a pad and the zero point cannot be its padding.
bool matchInteger(Dequantized &found, Value converted) {
  found.integer = converted;
  Value extended = converted;
  std::optional<int64_t> zero = 0;
  if (auto difference = extended.getDefiningOp<arith::SubIOp>()) {
    extended = difference.getLhs();
    bool ignored = false;
    zero = constantInteger(difference.getRhs());
    if (!zero && !extendedByte(difference.getRhs(), ignored))
      return false;
  }
  bool isSigned = false;
  BlockArgument element = extendedByte(extended, isSigned);
  if (!element || !isIndependentOf(found.scale, element))
    return false;
  const int64_t low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
  found.constantZero = zero.has_value();
  found.zeroPoint = zero.value_or(0);
  found.magnitude = zero ? std::max(high - *zero, *zero - low) : high - low;
  OpOperand *operand = found.op.getDpsInputOperand(element.getArgNumber());
  if (!found.op.getMatchingIndexingMap(operand).isIdentity())
    return false;
  found.quantized = operand->get();
  // In the padding, byte - zero point must be 0. The padding therefore becomes the zero point,
  // which must be a constant in the range of the bytes.
  return !found.pad || (found.constantZero && zero >= low && zero <= high);
}

/// Returns the dequantization that computes a tensor, or none.
std::optional<Dequantized> matchDequantized(Value tensor) {
  Dequantized found;
  found.pad = tensor.getDefiningOp<tensor::PadOp>();
  if (found.pad) {
    Value padding = found.pad.getConstantPaddingValue();
    if (!padding || !matchPattern(padding, m_AnyZeroFloat()))
      return std::nullopt;
    tensor = found.pad.getSource();
  }
  found.op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!found.op || found.op.getNumReductionLoops() > 0 || found.op.getNumResults() != 1 ||
      !found.op.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  Block &body = found.op.getRegion().front();
  auto product =
      cast<linalg::YieldOp>(body.getTerminator()).getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!product || !product.getType().isF32())
    return std::nullopt;
  for (unsigned side : {0u, 1u}) {
    auto converted = product->getOperand(side).getDefiningOp<arith::SIToFPOp>();
    if (!converted)
      continue;
    found.scale = product->getOperand(1 - side);
    if (!matchInteger(found, converted.getIn()))
      return std::nullopt;
    return found;
  }
  return std::nullopt;
}

/// Returns whether the operator is a reduction whose body is accumulator + a * b, with elements a
/// and b of two different operands.
bool isSumOfProducts(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 || op.getNumResults() != 1)
    return false;
  Block &body = op.getRegion().front();
  auto sum =
      cast<linalg::YieldOp>(body.getTerminator()).getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || std::distance(body.begin(), body.end()) != 3)
    return false;
  Value accumulator = body.getArgument(2);
  Value other = sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs();
  auto product = other.getDefiningOp<arith::MulFOp>();
  if (!product || !(sum.getLhs() == accumulator || sum.getRhs() == accumulator))
    return false;
  return product.getLhs() != product.getRhs() && isa<BlockArgument>(product.getLhs()) &&
         isa<BlockArgument>(product.getRhs()) && product.getLhs() != accumulator &&
         product.getRhs() != accumulator;
}

/// Returns the indexing map of an operand of a dequantization in terms of the loops of `sum`. `own`
/// is the operand's map in terms of the dimensions of the dequantization's result, and `ofResult`
/// is the map of this result in terms of the loops. None if an index of `own` is neither one
/// dimension nor a constant. With `parallelOnly`, also none if an index of the returned map is
/// neither a parallel loop nor a constant.
std::optional<AffineMap> throughSum(AffineMap own, AffineMap ofResult, linalg::GenericOp sum,
                                    bool parallelOnly) {
  auto iterators = sum.getIteratorTypesArray();
  llvm::SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : own.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && !isa<AffineConstantExpr>(expr))
      return std::nullopt;
    AffineExpr loop = dim ? ofResult.getResult(dim.getPosition()) : expr;
    if (parallelOnly && !isa<AffineConstantExpr>(loop)) {
      auto position = dyn_cast<AffineDimExpr>(loop);
      if (!position || iterators[position.getPosition()] != utils::IteratorType::parallel)
        return std::nullopt;
    }
    exprs.push_back(loop);
  }
  return AffineMap::get(ofResult.getNumDims(), 0, exprs, own.getContext());
}

/// Clones, to the builder's position, the operations of a body that compute `value`, and returns
/// the new value. `mapping` has the values that replace arguments of the body.
Value clone(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return value;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, clone(builder, operand, mapping));
  Value result = builder.clone(*op, mapping)->getResult(0);
  mapping.map(value, result);
  return result;
}

/// Rewrites one sum of products. rewrite() calls the steps in order. The first three steps do not
/// change the program, and return false if the sum cannot be rewritten.
class IntegerSum {
public:
  explicit IntegerSum(linalg::GenericOp op)
      : op_(op), builder_(op), loc_(op.getLoc()),
        resultType_(cast<RankedTensorType>(op.getResult(0).getType())),
        outputMap_(op.getIndexingMapsArray().back()) {}

  void rewrite() {
    if (!matchOperands() || !collectExtras() || !mapScalesToResult())
      return;
    Value sum = buildSum();
    linalg::GenericOp rescaled = buildRescaling(sum);
    copyTensorName(op_, rescaled);
    op_.getResult(0).replaceAllUsesWith(rescaled.getResult(0));
    eraseUnused();
  }

private:
  /// Another operand of a dequantization: a tensor of scales or of zero points.
  struct Extra {
    Value tensor;
    // In terms of the loops of the sum; for scales, mapScalesToResult() changes it to the
    // dimensions of the sum's result.
    AffineMap map;
    unsigned side;          // The operand of the sum that it belongs to: 0 or 1.
    BlockArgument argument; // The argument of the dequantization's body for this tensor.
  };

  /// Matches both operands of the sum, and checks that the sum cannot overflow 32 bits.
  bool matchOperands() {
    auto fill = op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
        !resultType_.getElementType().isF32() || !outputMap_.isProjectedPermutation())
      return false;
    empty_ = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    if (!empty_)
      return false;
    int64_t largest = 1;
    for (unsigned i : {0u, 1u}) {
      std::optional<Dequantized> side = matchDequantized(op_.getDpsInputs()[i]);
      if (!side)
        return false;
      sides_[i] = *side;
      largest *= std::max<int64_t>(side->magnitude, 1);
    }
    llvm::SmallVector<unsigned> reductionDims;
    op_.getReductionDims(reductionDims);
    auto ranges = op_.getStaticLoopRanges();
    for (unsigned dim : reductionDims)
      if (ShapedType::isDynamic(ranges[dim]) ||
          __builtin_mul_overflow(largest, std::max<int64_t>(ranges[dim], 1), &largest))
        return false;
    return largest <= INT32_MAX;
  }

  /// Collects the tensors of scales and zero points. Returns false if a padded operand has such a
  /// tensor, because the tensor has no elements for the padding, or if a map of such a tensor is
  /// not simple enough (throughSum()).
  bool collectExtras() {
    for (unsigned i : {0u, 1u}) {
      Dequantized &side = sides_[i];
      AffineMap ofResult = op_.getMatchingIndexingMap(op_.getDpsInputOperand(i));
      for (OpOperand *operand : side.op.getDpsInputOperands()) {
        BlockArgument argument = side.op.getMatchingBlockArgument(operand);
        if (operand->get() == side.quantized)
          continue;
        const bool inScale = !isIndependentOf(side.scale, argument);
        const bool inZero = !isIndependentOf(side.integer, argument);
        if (!inScale && !inZero)
          continue;
        if (side.pad)
          return false;
        auto map = throughSum(side.op.getMatchingIndexingMap(operand), ofResult, op_, inScale);
        if (!map)
          return false;
        if (inScale)
          scales_.push_back({operand->get(), *map, i, argument});
        if (inZero)
          zeros_.push_back({operand->get(), *map, i, argument});
      }
    }
    return true;
  }

  /// Changes the maps of scales from the loops of the sum to the dimensions of its result. Returns
  /// false if a map uses a loop that is not a dimension of the result.
  bool mapScalesToResult() {
    for (Extra &extra : scales_) {
      llvm::SmallVector<AffineExpr> exprs;
      for (AffineExpr expr : extra.map.getResults()) {
        if (isa<AffineDimExpr>(expr)) {
          std::optional<unsigned> at = outputMap_.getResultPosition(expr);
          if (!at)
            return false;
          expr = builder_.getAffineDimExpr(*at);
        }
        exprs.push_back(expr);
      }
      extra.map = AffineMap::get(resultType_.getRank(), 0, exprs, builder_.getContext());
    }
    return true;
  }

  /// Returns the tensor of bytes of an operand. If the operand is padded with 0.0, pads the tensor
  /// of bytes with the zero point.
  Value integersOf(const Dequantized &side) {
    tensor::PadOp pad = side.pad;
    if (!pad)
      return side.quantized;
    auto element = cast<RankedTensorType>(side.quantized.getType()).getElementType();
    auto type = RankedTensorType::get(pad.getResultType().getShape(), element);
    Value zero = builder_.create<arith::ConstantOp>(
        loc_, builder_.getIntegerAttr(element, APInt(8, side.zeroPoint & 0xff)));
    return builder_.create<tensor::PadOp>(pad.getLoc(), type, side.quantized, pad.getMixedLowPad(),
                                          pad.getMixedHighPad(), zero);
  }

  Value makeEmpty(Type element) {
    return builder_.create<tensor::EmptyOp>(loc_, resultType_.getShape(), element,
                                            empty_.getDynamicSizes());
  }

  /// Clones a value of the body of dequantization `side`. `arguments` begins with one value for
  /// each of `extras`, in order.
  Value cloneSide(OpBuilder &body, unsigned side, Value value, llvm::ArrayRef<Extra> extras,
                  ValueRange arguments, IRMapping &mapping) {
    for (auto [extra, argument] : llvm::zip(extras, arguments))
      if (extra.side == side)
        mapping.map(extra.argument, argument);
    return clone(body, value, mapping);
  }

  /// Builds the sum of integer products. Its operands are the two tensors of bytes, then the
  /// tensors of zero points.
  Value buildSum() {
    llvm::SmallVector<Value> inputs;
    llvm::SmallVector<AffineMap> maps;
    for (unsigned i : {0u, 1u}) {
      inputs.push_back(integersOf(sides_[i]));
      maps.push_back(op_.getMatchingIndexingMap(op_.getDpsInputOperand(i)));
    }
    for (const Extra &extra : zeros_) {
      inputs.push_back(extra.tensor);
      maps.push_back(extra.map);
    }
    maps.push_back(outputMap_);
    Value zero = builder_.create<arith::ConstantOp>(loc_, builder_.getI32IntegerAttr(0));
    Value init =
        builder_.create<linalg::FillOp>(loc_, zero, makeEmpty(builder_.getI32Type())).getResult(0);
    auto sum = builder_.create<linalg::GenericOp>(
        loc_, TypeRange{init.getType()}, inputs, ValueRange{init}, maps,
        op_.getIteratorTypesArray(), [&](OpBuilder &body, Location at, ValueRange arguments) {
          Value integers[2];
          for (unsigned i : {0u, 1u}) {
            IRMapping mapping;
            Dequantized &side = sides_[i];
            for (OpOperand *operand : side.op.getDpsInputOperands())
              if (operand->get() == side.quantized)
                mapping.map(side.op.getMatchingBlockArgument(operand), arguments[i]);
            integers[i] =
                cloneSide(body, i, side.integer, zeros_, arguments.drop_front(2), mapping);
          }
          Value product = body.create<arith::MulIOp>(at, integers[0], integers[1]);
          Value total = body.create<arith::AddIOp>(at, arguments.back(), product);
          body.create<linalg::YieldOp>(at, total);
        });
    return sum.getResult(0);
  }

  /// Builds the product of the sum and both scales. Its operands are the sum, then the tensors of
  /// scales.
  linalg::GenericOp buildRescaling(Value sum) {
    AffineMap identity =
        AffineMap::getMultiDimIdentityMap(resultType_.getRank(), builder_.getContext());
    llvm::SmallVector<Value> operands{sum};
    llvm::SmallVector<AffineMap> maps{identity};
    for (const Extra &extra : scales_) {
      operands.push_back(extra.tensor);
      maps.push_back(extra.map);
    }
    maps.push_back(identity);
    llvm::SmallVector<utils::IteratorType> parallel(resultType_.getRank(),
                                                    utils::IteratorType::parallel);
    return builder_.create<linalg::GenericOp>(
        loc_, TypeRange{resultType_}, operands, ValueRange{makeEmpty(builder_.getF32Type())}, maps,
        parallel, [&](OpBuilder &body, Location at, ValueRange arguments) {
          Value factors[2];
          for (unsigned i : {0u, 1u}) {
            IRMapping mapping;
            factors[i] =
                cloneSide(body, i, sides_[i].scale, scales_, arguments.drop_front(1), mapping);
          }
          Value factor = body.createOrFold<arith::MulFOp>(at, factors[0], factors[1]);
          Value number = body.create<arith::SIToFPOp>(at, body.getF32Type(), arguments[0]);
          Value product = body.create<arith::MulFOp>(at, number, factor);
          body.create<linalg::YieldOp>(at, product);
        });
  }

  /// Erases the rewritten sum, and its pads and dequantizations if nothing else uses them.
  void eraseUnused() {
    op_.erase();
    for (Dequantized &side : sides_)
      if (side.pad && side.pad->use_empty())
        side.pad->erase();
    for (unsigned i : {0u, 1u})
      if ((i == 0 || sides_[1].op != sides_[0].op) && sides_[i].op->use_empty())
        sides_[i].op->erase();
  }

  linalg::GenericOp op_;
  OpBuilder builder_;
  const Location loc_;
  const RankedTensorType resultType_;
  const AffineMap outputMap_;
  tensor::EmptyOp empty_; // Gives the dynamic sizes of the sum's result.
  Dequantized sides_[2];
  llvm::SmallVector<Extra> zeros_, scales_;
};

struct SumIntegersPass : impl::SumIntegersBase<SumIntegersPass> {
  void runOnOperation() override {
    llvm::SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isSumOfProducts(op))
        sums.push_back(op);
    });
    for (linalg::GenericOp op : sums)
      IntegerSum(op).rewrite();
  }
};

} // namespace
} // namespace gantry::codegen

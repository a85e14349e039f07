// sum-integers: see Passes.td.
#include "codegen/passes/passes.h"
#include "codegen/tiling/structure.h"

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

/// An operand of the sum that stands for (an integer of few bits) * (a scale).
struct Dequantized {
  linalg::GenericOp op;
  tensor::PadOp pad;     // between op and the sum, or null
  Value quantized;       // the tensor of integers
  Value integer, scale;  // in op's body: i32 and f32
  int64_t zeroPoint = 0; // where it is one constant
  bool constantZero = false;
  int64_t magnitude = 0; // no |integer| is above
};

/// Whether the value is computed in its body without `argument`.
bool isIndependentOf(Value value, BlockArgument argument) {
  if (value == argument)
    return false;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != argument.getOwner())
    return true;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isIndependentOf(operand, argument); });
}

std::optional<Dequantized> matchDequantized(Value tensor) {
  Dequantized found;
  if ((found.pad = tensor.getDefiningOp<tensor::PadOp>())) {
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
    found.integer = converted.getIn();
    found.scale = product->getOperand(1 - side);
    Value extended = found.integer;
    auto difference = extended.getDefiningOp<arith::SubIOp>();
    bool isSigned = false;
    std::optional<int64_t> zero = 0;
    if (difference) {
      extended = difference.getLhs();
      bool ignored = false;
      zero = constantInteger(difference.getRhs());
      if (!zero && !extendedByte(difference.getRhs(), ignored))
        return std::nullopt;
    }
    BlockArgument element = extendedByte(extended, isSigned);
    if (!element || !isIndependentOf(found.scale, element))
      return std::nullopt;
    found.constantZero = zero.has_value();
    found.zeroPoint = zero.value_or(0);
    const int64_t low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
    found.magnitude = zero ? std::max(high - *zero, *zero - low) : high - low;
    OpOperand *operand = found.op.getDpsInputOperand(element.getArgNumber());
    if (!found.op.getMatchingIndexingMap(operand).isIdentity())
      return std::nullopt;
    found.quantized = operand->get();
    // In the padding the integer is to be 0.
    if (found.pad && !(found.constantZero && zero >= low && zero <= high))
      return std::nullopt;
    return found;
  }
  return std::nullopt;
}

/// Whether the body is accumulator + a * b.
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

struct SumIntegersPass : impl::SumIntegersBase<SumIntegersPass> {
  void runOnOperation() override {
    llvm::SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isSumOfProducts(op))
        sums.push_back(op);
    });
    for (linalg::GenericOp op : sums)
      rewrite(op);
  }

  /// The map of an operand of the dequantisation (over the elements of its result), over the loops
  /// of the sum; none where it is not per tensor or per slice along parallel loops.
  static std::optional<AffineMap> throughSum(AffineMap own, AffineMap ofResult,
                                             linalg::GenericOp sum, bool parallelOnly) {
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

  /// The values that `value` is computed from in its body, cloned to the builder's position.
  static Value clone(OpBuilder &builder, Value value, IRMapping &mapping) {
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

  static bool uses(Value value, BlockArgument argument) {
    return !isIndependentOf(value, argument);
  }

  void rewrite(linalg::GenericOp op) {
    std::optional<Dequantized> sides[2];
    auto resultType = cast<RankedTensorType>(op.getResult(0).getType());
    AffineMap outputMap = op.getIndexingMapsArray().back();
    auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
        !resultType.getElementType().isF32() || !outputMap.isProjectedPermutation())
      return;
    int64_t largest = 1;
    for (unsigned i : {0u, 1u}) {
      sides[i] = matchDequantized(op.getDpsInputs()[i]);
      if (!sides[i])
        return;
      largest *= std::max<int64_t>(sides[i]->magnitude, 1);
    }
    // The sum must not overflow.
    llvm::SmallVector<unsigned> reductionDims;
    op.getReductionDims(reductionDims);
    auto ranges = op.getStaticLoopRanges();
    for (unsigned dim : reductionDims)
      if (ShapedType::isDynamic(ranges[dim]) ||
          __builtin_mul_overflow(largest, std::max<int64_t>(ranges[dim], 1), &largest))
        return;
    if (largest > INT32_MAX)
      return;

    // Operands of the new sum: the integers, then what the zero points are; and of the rescaling.
    OpBuilder builder(op);
    Location loc = op.getLoc();
    struct Extra {
      Value tensor;
      AffineMap map;
      unsigned side;
      BlockArgument argument;
    };
    llvm::SmallVector<Extra> zeros, scales;
    for (unsigned i : {0u, 1u}) {
      Dequantized &side = *sides[i];
      AffineMap ofResult = op.getMatchingIndexingMap(op.getDpsInputOperand(i));
      for (OpOperand *operand : side.op.getDpsInputOperands()) {
        BlockArgument argument = side.op.getMatchingBlockArgument(operand);
        if (operand->get() == side.quantized)
          continue;
        const bool inScale = uses(side.scale, argument), inZero = uses(side.integer, argument);
        if (!inScale && !inZero)
          continue;
        if (side.pad)
          return; // in the padding there is no scale per slice
        auto map = throughSum(side.op.getMatchingIndexingMap(operand), ofResult, op, inScale);
        if (!map)
          return;
        if (inScale)
          scales.push_back({operand->get(), *map, i, argument});
        if (inZero)
          zeros.push_back({operand->get(), *map, i, argument});
      }
    }
    // Scales over the loops become scales over the result's elements.
    for (Extra &extra : scales) {
      llvm::SmallVector<AffineExpr> exprs;
      for (AffineExpr expr : extra.map.getResults()) {
        if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
          std::optional<unsigned> at = outputMap.getResultPosition(expr);
          if (!at)
            return;
          expr = builder.getAffineDimExpr(*at);
        }
        exprs.push_back(expr);
      }
      extra.map = AffineMap::get(resultType.getRank(), 0, exprs, builder.getContext());
    }

    llvm::SmallVector<Value> inputs;
    llvm::SmallVector<AffineMap> maps;
    for (unsigned i : {0u, 1u}) {
      Value integers = sides[i]->quantized;
      if (tensor::PadOp pad = sides[i]->pad) {
        auto element = cast<RankedTensorType>(integers.getType()).getElementType();
        auto type = RankedTensorType::get(pad.getResultType().getShape(), element);
        Value zero = builder.create<arith::ConstantOp>(
            loc, builder.getIntegerAttr(element, APInt(8, sides[i]->zeroPoint & 0xff)));
        integers = builder.create<tensor::PadOp>(pad.getLoc(), type, integers, pad.getMixedLowPad(),
                                                 pad.getMixedHighPad(), zero);
      }
      inputs.push_back(integers);
      maps.push_back(op.getMatchingIndexingMap(op.getDpsInputOperand(i)));
    }
    for (const Extra &extra : zeros) {
      inputs.push_back(extra.tensor);
      maps.push_back(extra.map);
    }
    maps.push_back(outputMap);
    auto i32 = builder.getI32Type();
    auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      return;
    auto makeEmpty = [&](Type element) -> Value {
      return builder.create<tensor::EmptyOp>(loc, resultType.getShape(), element,
                                             empty.getDynamicSizes());
    };
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(0));
    Value init = builder.create<linalg::FillOp>(loc, zero, makeEmpty(i32)).getResult(0);
    auto sum = builder.create<linalg::GenericOp>(
        loc, TypeRange{init.getType()}, inputs, ValueRange{init}, maps, op.getIteratorTypesArray(),
        [&](OpBuilder &body, Location at, ValueRange arguments) {
          Value integers[2];
          for (unsigned i : {0u, 1u}) {
            IRMapping mapping;
            for (OpOperand *operand : sides[i]->op.getDpsInputOperands())
              if (operand->get() == sides[i]->quantized)
                mapping.map(sides[i]->op.getMatchingBlockArgument(operand), arguments[i]);
            for (auto [z, extra] : llvm::enumerate(zeros))
              if (extra.side == i)
                mapping.map(extra.argument, arguments[2 + z]);
            integers[i] = clone(body, sides[i]->integer, mapping);
          }
          Value product = body.create<arith::MulIOp>(at, integers[0], integers[1]);
          Value total = body.create<arith::AddIOp>(at, arguments.back(), product);
          body.create<linalg::YieldOp>(at, total);
        });

    AffineMap identity = AffineMap::getMultiDimIdentityMap(resultType.getRank(), &getContext());
    llvm::SmallVector<Value> operands{sum.getResult(0)};
    llvm::SmallVector<AffineMap> rescaleMaps{identity};
    for (const Extra &extra : scales) {
      operands.push_back(extra.tensor);
      rescaleMaps.push_back(extra.map);
    }
    rescaleMaps.push_back(identity);
    llvm::SmallVector<utils::IteratorType> parallel(resultType.getRank(),
                                                    utils::IteratorType::parallel);
    auto rescaled = builder.create<linalg::GenericOp>(
        loc, TypeRange{resultType}, operands, ValueRange{makeEmpty(builder.getF32Type())},
        rescaleMaps, parallel, [&](OpBuilder &body, Location at, ValueRange arguments) {
          Value factors[2];
          for (unsigned i : {0u, 1u}) {
            IRMapping mapping;
            for (auto [s, extra] : llvm::enumerate(scales))
              if (extra.side == i)
                mapping.map(extra.argument, arguments[1 + s]);
            factors[i] = clone(body, sides[i]->scale, mapping);
          }
          Value factor = body.createOrFold<arith::MulFOp>(at, factors[0], factors[1]);
          Value number = body.create<arith::SIToFPOp>(at, body.getF32Type(), arguments[0]);
          Value product = body.create<arith::MulFOp>(at, number, factor);
          body.create<linalg::YieldOp>(at, product);
        });
    if (Attribute name = op->getDiscardableAttr("gantry.tensor"))
      rescaled->setDiscardableAttr("gantry.tensor", name);
    op.getResult(0).replaceAllUsesWith(rescaled.getResult(0));
    op.erase();
    for (std::optional<Dequantized> &side : sides) {
      if (side->pad && side->pad->use_empty())
        side->pad->erase();
    }
    for (unsigned i : {0u, 1u})
      if ((i == 0 || sides[1]->op != sides[0]->op) && sides[i]->op->use_empty())
        sides[i]->op->erase();
  }
};

} // namespace
} // namespace gantry::codegen

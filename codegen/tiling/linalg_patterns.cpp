// Implements linalg_patterns.h.
#include "codegen/tiling/linalg_patterns.h"

#include "codegen/dialect/rounding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

using namespace mlir;

Value withoutCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp>(op) && !storedFloat(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns whether a tensor is filled with the float 0.
static bool isZero(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
}

std::optional<std::pair<OpOperand *, OpOperand *>> factorsOf(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      !isZero(op.getDpsInits().front()))
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(op.getRegion().front().getTerminator());
  auto sum = withoutCasts(yield.getOperand(0)).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  Value terms[] = {withoutCasts(sum.getLhs()), withoutCasts(sum.getRhs())};
  if (terms[1] == op.getRegionOutputArgs().front())
    std::swap(terms[0], terms[1]);
  auto product = terms[1].getDefiningOp<arith::MulFOp>();
  if (terms[0] != op.getRegionOutputArgs().front() || !product)
    return std::nullopt;
  OpOperand *a = op.getDpsInputOperand(0), *b = op.getDpsInputOperand(1);
  const Value x = withoutCasts(product.getLhs()), y = withoutCasts(product.getRhs());
  const Value first = op.getMatchingBlockArgument(a), second = op.getMatchingBlockArgument(b);
  if (!((x == first && y == second) || (x == second && y == first)))
    return std::nullopt;
  for (OpOperand *operand : {a, b})
    if (!isa<RankedTensorType>(operand->get().getType()))
      return std::nullopt;
  return std::pair{a, b};
}

std::optional<int64_t> constantInteger(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op) ||
      !matchPattern(op->getOperand(0), m_ConstantInt(&constant)))
    return std::nullopt;
  return isa<arith::ExtSIOp>(op) ? constant.getSExtValue()
                                 : static_cast<int64_t>(constant.getZExtValue());
}

BlockArgument extendedByte(Value value, bool &isSigned) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op) || !value.getType().isInteger(32) ||
      !op->getOperand(0).getType().isInteger(8))
    return {};
  isSigned = isa<arith::ExtSIOp>(op);
  return dyn_cast<BlockArgument>(op->getOperand(0));
}

/// Returns the tensor input that the body's argument is an element of. Null if there is none.
static OpOperand *inputOf(linalg::GenericOp op, BlockArgument argument) {
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
  return isa<RankedTensorType>(operand->get().getType()) ? operand : nullptr;
}

/// Returns `value` of a reduction's body as a factor: an extended byte, minus its zero point if
/// there is one. None if it is not of this form or if the zero point depends on the step.
static std::optional<ByteFactor> byteFactorOf(linalg::GenericOp op, Value value) {
  ByteFactor factor;
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    value = difference.getLhs();
    if (const auto constant = constantInteger(difference.getRhs())) {
      factor.zeroPoint = *constant;
    } else {
      factor.zeros = inputOf(op, extendedByte(difference.getRhs(), factor.zerosSigned));
      if (!factor.zeros)
        return std::nullopt;
      DenseIntElementsAttr known;
      AffineMap map = op.getMatchingIndexingMap(factor.zeros);
      if (matchPattern(factor.zeros->get(), m_Constant(&known)) && known.isSplat()) {
        const APInt zero = known.getSplatValue<APInt>();
        factor.zeroPoint =
            factor.zerosSigned ? zero.getSExtValue() : static_cast<int64_t>(zero.getZExtValue());
        factor.zeros = nullptr;
      }
      for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
        if (iterator == utils::IteratorType::reduction && map.isFunctionOfDim(dim))
          return std::nullopt;
    }
  }
  factor.operand = inputOf(op, extendedByte(value, factor.isSigned));
  return factor.operand ? std::optional(factor) : std::nullopt;
}

std::optional<std::array<ByteFactor, 2>> byteFactorsOf(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  auto sum = yield.getOperand(0).getDefiningOp<arith::AddIOp>();
  Value accumulator = op.getRegionOutputArgs().front();
  if (!sum || !accumulator.getType().isInteger(32) || !accumulator.hasOneUse())
    return std::nullopt;
  const Value term = sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs();
  auto product = term.getDefiningOp<arith::MulIOp>();
  if (!llvm::is_contained(sum->getOperands(), accumulator) || !product)
    return std::nullopt;
  const auto a = byteFactorOf(op, product.getLhs()), b = byteFactorOf(op, product.getRhs());
  if (!a || !b)
    return std::nullopt;
  return std::array{*a, *b};
}

llvm::SmallVector<int64_t> reductionExtentsOf(linalg::GenericOp op) {
  llvm::SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  const auto ranges = op.getStaticLoopRanges();
  llvm::SmallVector<int64_t> extents;
  for (unsigned dim : dims)
    extents.push_back(ranges[dim]);
  return extents;
}

std::optional<unsigned> dotDimensionOf(llvm::ArrayRef<int64_t> extents) {
  std::optional<unsigned> longest;
  for (auto [d, extent] : llvm::enumerate(extents))
    if (!ShapedType::isDynamic(extent) && extent > 0 && extent % 4 == 0 &&
        (!longest || extent > extents[*longest]))
      longest = d;
  return longest;
}

Operation *combinerOf(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return nullptr;
  auto yield = cast<linalg::YieldOp>(op.getRegion().front().getTerminator());
  Operation *combiner = yield.getOperand(0).getDefiningOp();
  Value accumulator = op.getRegionOutputArgs().front();
  if (!combiner || combiner->getNumOperands() != 2 || combiner->getNumResults() != 1 ||
      !accumulator.hasOneUse() || !llvm::is_contained(combiner->getOperands(), accumulator) ||
      !arith::getNeutralElement(combiner))
    return nullptr;
  return combiner;
}

bool isRowMap(AffineMap map) {
  if (map.getNumResults() == 0 || map.getNumDims() != map.getNumResults())
    return false;
  auto last = dyn_cast<AffineConstantExpr>(map.getResults().back());
  if (!last || last.getValue() != 0)
    return false;
  for (unsigned d = 0; d + 1 < map.getNumResults(); ++d)
    if (map.getResult(d) != getAffineDimExpr(d, map.getContext()))
      return false;
  return true;
}

bool isRowReduction(linalg::GenericOp op) {
  auto iterators = op.getIteratorTypesArray();
  return op.getNumReductionLoops() == 1 && iterators.back() == utils::IteratorType::reduction &&
         combinerOf(op) && isRowMap(op.getIndexingMapsArray().back());
}

OpOperand *rowOperandOf(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 1 || !combinerOf(op))
    return nullptr;
  llvm::SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(operand);
    if (isa<RankedTensorType>(operand->get().getType()) && map.getNumResults() > 0 &&
        map.getResults().back() == getAffineDimExpr(dims.front(), op.getContext()))
      return operand;
  }
  return nullptr;
}

bool isElementwise(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumResults() == 1 &&
         op.getIndexingMapsArray().back().isIdentity();
}

} // namespace gantry::codegen

#include "codegen/tiling/structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

using namespace mlir;

Value withoutCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

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

bool isElementwise(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumResults() == 1 &&
         op.getIndexingMapsArray().back().isIdentity();
}

} // namespace gantry::codegen

// Implements attention.h, except attentionTiles().
#include "codegen/tiling/attention.h"

#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Follows operands backwards from the last matmul and collects the operations of the attention.
class Matcher {
public:
  std::optional<Attention> match(linalg::GenericOp product);

private:
  linalg::GenericOp producerOf(Value tensor);
  bool findProduct(Value scores);
  bool isOnlyRead(linalg::GenericOp product) const;

  llvm::SetVector<Operation *> members_;
};

/// Returns the value that the body of an operation yields, without conversions between floats.
Value yieldedBy(linalg::GenericOp op) {
  return withoutCasts(op.getRegion().front().getTerminator()->getOperand(0));
}

/// Returns the input of `op` that the body's value `scalar` is an element of, possibly after
/// conversions between floats. Null if `scalar` is not an element of an input.
OpOperand *operandOf(linalg::GenericOp op, Value scalar) {
  auto argument = dyn_cast<BlockArgument>(withoutCasts(scalar));
  if (!argument || argument.getOwner() != &op.getRegion().front() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  return op.getDpsInputOperand(argument.getArgNumber());
}

/// Returns whether `op` reads the operand at its own loop coordinates or, with `perRow`, at these
/// coordinates with 0 as the last one.
bool isReadAt(linalg::GenericOp op, OpOperand *operand, bool perRow) {
  if (!operand || !isa<RankedTensorType>(operand->get().getType()))
    return false;
  AffineMap map = op.getMatchingIndexingMap(operand);
  return perRow ? isRowMap(map) : map.isIdentity();
}

bool isFilledWith(Value init, llvm::function_ref<bool(const APFloat &)> wanted) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  APFloat value(0.0f);
  return fill && matchPattern(fill.getInputs().front(), m_ConstantFloat(&value)) && wanted(value);
}

/// Returns the operand of `op` if `op` reduces each row of an f32 tensor to one value, combines the
/// elements with an operation of a type in Combiners, and has an initial value that `init` accepts.
/// Null for any other operation.
template <typename... Combiners>
OpOperand *reducedBy(linalg::GenericOp op, llvm::function_ref<bool(const APFloat &)> init) {
  if (!op || !isRowReduction(op) || op.getNumDpsInputs() != 1 ||
      !isa<Combiners...>(combinerOf(op)) ||
      !getElementTypeOrSelf(op.getResult(0).getType()).isF32() ||
      !isFilledWith(op.getDpsInits().front(), init))
    return nullptr;
  Operation *combiner = combinerOf(op);
  const unsigned other = combiner->getOperand(0) == op.getRegionOutputArgs().front() ? 1 : 0;
  OpOperand *operand = operandOf(op, combiner->getOperand(other));
  return isReadAt(op, operand, /*perRow=*/false) ? operand : nullptr;
}

/// Returns the operation that computes the tensor, looking through elementwise conversions between
/// floats; null if there is none. Adds the operation and the conversions to members_.
linalg::GenericOp Matcher::producerOf(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  while (op && isElementwise(op) && op.getNumDpsInputs() == 1) {
    OpOperand *source = operandOf(op, yieldedBy(op));
    if (!isReadAt(op, source, /*perRow=*/false))
      break;
    members_.insert(op);
    op = source->get().getDefiningOp<linalg::GenericOp>();
  }
  if (op)
    members_.insert(op);
  return op;
}

/// Looks for the matmul from which elementwise operations compute the scores. Adds the matmul and
/// these operations to members_. Returns whether the matmul was found.
bool Matcher::findProduct(Value scores) {
  auto op = scores.getDefiningOp<linalg::GenericOp>();
  if (!op)
    return false;
  if (factorsOf(op)) {
    members_.insert(op);
    return true;
  }
  if (!isElementwise(op))
    return false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (isReadAt(op, operand, /*perRow=*/false) && findProduct(operand->get())) {
      members_.insert(op);
      return true;
    }
  }
  return false;
}

/// Returns whether only members and `product` read the results of the members.
bool Matcher::isOnlyRead(linalg::GenericOp product) const {
  for (Operation *member : members_)
    for (Operation *user : member->getUsers())
      if (user != product && !members_.contains(user))
        return false;
  return true;
}

/// Returns the loops of `product` that the weights do not depend on.
llvm::SmallVector<unsigned> valueLoopsOf(linalg::GenericOp product, OpOperand *weights) {
  llvm::SmallVector<unsigned> loops;
  AffineMap map = product.getMatchingIndexingMap(weights);
  for (unsigned loop = 0; loop < product.getNumLoops(); ++loop)
    if (!map.isFunctionOfDim(loop))
      loops.push_back(loop);
  return loops;
}

bool hasNoExtent(linalg::GenericOp op) { return llvm::is_contained(op.getStaticLoopRanges(), 0); }

std::optional<Attention> Matcher::match(linalg::GenericOp product) {
  const auto factors = factorsOf(product);
  if (!factors || product.getNumReductionLoops() != 1 ||
      !getElementTypeOrSelf(product.getResult(0).getType()).isF32() ||
      !product.getIndexingMapsArray().back().isProjectedPermutation())
    return std::nullopt;
  llvm::SmallVector<unsigned> keys;
  product.getReductionDims(keys);
  for (OpOperand *weights : {factors->first, factors->second}) {
    members_.clear();
    // The last dimension of the weights must be the product's reduction.
    AffineMap map = product.getMatchingIndexingMap(weights);
    if (map.getNumResults() == 0 || valueLoopsOf(product, weights).size() != 1 ||
        !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        map.getResults().back() != getAffineDimExpr(keys.front(), product.getContext()))
      continue;
    // The weights must be exp(scores - maximum) / sum, where the sum is that of the exponentials of
    // the row.
    auto quotient = producerOf(weights->get());
    if (!quotient || !isElementwise(quotient))
      continue;
    auto division = yieldedBy(quotient).getDefiningOp<arith::DivFOp>();
    if (!division)
      continue;
    OpOperand *dividend = operandOf(quotient, division.getLhs());
    OpOperand *divisor = operandOf(quotient, division.getRhs());
    if (!isReadAt(quotient, dividend, false) || !isReadAt(quotient, divisor, true))
      continue;
    auto exponential = producerOf(dividend->get());
    OpOperand *summed = reducedBy<arith::AddFOp>(producerOf(divisor->get()),
                                                 [](const APFloat &init) { return init.isZero(); });
    if (!exponential || !isElementwise(exponential) || !summed ||
        producerOf(summed->get()) != exponential)
      continue;
    auto power = yieldedBy(exponential).getDefiningOp<math::ExpOp>();
    auto difference =
        power ? withoutCasts(power.getOperand()).getDefiningOp<arith::SubFOp>() : arith::SubFOp();
    if (!difference)
      continue;
    OpOperand *scores = operandOf(exponential, difference.getLhs());
    OpOperand *maximum = operandOf(exponential, difference.getRhs());
    if (!isReadAt(exponential, scores, false) || !isReadAt(exponential, maximum, true))
      continue;
    OpOperand *compared = reducedBy<arith::MaximumFOp, arith::MaxNumFOp>(
        producerOf(maximum->get()),
        [](const APFloat &init) { return init.isInfinity() && init.isNegative(); });
    if (!compared || compared->get() != scores->get() || !findProduct(scores->get()) ||
        !isOnlyRead(product))
      continue;
    Attention attention{product, weights, scores->get(), {}};
    for (Operation *member : members_)
      attention.members.push_back(cast<linalg::GenericOp>(member));
    if (hasNoExtent(product) || llvm::any_of(attention.members, hasNoExtent))
      return std::nullopt;
    return attention;
  }
  return std::nullopt;
}

} // namespace

unsigned Attention::keyLoop() const {
  llvm::SmallVector<unsigned> loops;
  linalg::GenericOp(product).getReductionDims(loops);
  return loops.front();
}

unsigned Attention::valueLoop() const { return valueLoopsOf(product, weights).front(); }

std::optional<Attention> attentionOf(linalg::GenericOp product) { return Matcher().match(product); }

std::optional<Attention> attentionIn(func::FuncOp kernel) {
  std::optional<Attention> found;
  kernel.walk([&](linalg::GenericOp op) {
    if (!found)
      found = attentionOf(op);
  });
  return found;
}

} // namespace gantry::codegen

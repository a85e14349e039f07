// Implements the pass distribute-elementwise (Passes.td). A transposed convolution with a stride
// consists of several ordinary convolutions, its phases, whose results are interleaved in the
// output. The pass applies an elementwise operator to the phases instead of to the output.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_DISTRIBUTEELEMENTWISE
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns the gantry.concat that makes the tensor if it interleaves its inputs; otherwise null.
ConcatOp interleaving(Value tensor) {
  auto concat = tensor.getDefiningOp<ConcatOp>();
  return concat && concat.getInterleaved() ? concat : ConcatOp();
}

/// Returns whether the inputs of the interleaving gantry.concat that makes the tensor have no other
/// use, and, if they are interleaved themselves, the same is true of their inputs. Also true if no
/// such operation makes the tensor.
bool ownsParts(Value tensor) {
  ConcatOp concat = interleaving(tensor);
  return !concat || llvm::all_of(concat.getInputs(),
                                 [](Value input) { return input.hasOneUse() && ownsParts(input); });
}

/// Returns an operand of the operator `op` that is an interleaved tensor, if `op` is elementwise
/// and can be applied to the inputs of the gantry.concat instead: nothing else uses the operand,
/// and the other operands do not vary along the interleaved dimensions. Otherwise returns null.
OpOperand *interleavedOperand(linalg::GenericOp op) {
  if (op.getNumReductionLoops() > 0 || op->getNumResults() != 1 ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      !op.getBody()->getOps<linalg::IndexOp>().empty())
    return nullptr;
  OpOperand *found = nullptr;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (interleaving(operand->get()) && operand->get().hasOneUse() &&
        op.getMatchingIndexingMap(operand).isIdentity())
      found = operand;
  if (!found || !ownsParts(found->get()))
    return nullptr;
  const auto dims = interleavedDims(found->get());
  for (OpOperand *operand : op.getDpsInputOperands())
    for (const uint64_t dim : dims)
      if (operand != found && op.getMatchingIndexingMap(operand).isFunctionOfDim(dim))
        return nullptr;
  return found;
}

/// Builds `op` with `value` in place of operand number `position`, and returns its result. If
/// `value` is interleaved, builds the operator for each input of the gantry.concat instead, and
/// interleaves the results.
Value apply(OpBuilder &builder, linalg::GenericOp op, unsigned position, Value value) {
  const Type element = getElementTypeOrSelf(op.getResult(0));
  if (ConcatOp concat = interleaving(value)) {
    llvm::SmallVector<Value> parts;
    for (Value input : concat.getInputs())
      parts.push_back(apply(builder, op, position, input));
    return builder.create<ConcatOp>(op.getLoc(),
                                    cast<RankedTensorType>(concat.getType()).clone(element), parts,
                                    concat.getDim(), /*interleaved=*/true);
  }
  Value empty = builder.create<tensor::EmptyOp>(op.getLoc(), tensorDims(builder, value), element);
  llvm::SmallVector<Value> operands(op->getOperands());
  operands[position] = value;
  operands.back() = empty;
  Operation *part = mlir::clone(builder, op, empty.getType(), operands);
  return part->getResult(0);
}

/// An unfolding is an operator that only joins pairs of neighbouring dimensions, such as rows and
/// phases (isUnfolding() in fusion_groups.h). Returns an operand of the operator `op` that is the
/// result of an unfolding, if `op` is elementwise and can be applied to the unfolding's operand
/// instead: nothing else uses these two tensors, and the other operands of `op` do not vary along
/// the joined dimensions. Otherwise returns null.
OpOperand *unfoldedOperand(linalg::GenericOp op) {
  if (!isElementwise(op) || op->getNumResults() != 1 ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      !op.getBody()->getOps<linalg::IndexOp>().empty())
    return nullptr;
  OpOperand *found = nullptr;
  AffineMap unfolded;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto unfolding = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!unfolding || !isUnfolding(unfolding) || !unfolding->hasOneUse() ||
        !op.getMatchingIndexingMap(operand).isIdentity())
      continue;
    auto source = unfolding.getInputs().front().getDefiningOp<linalg::GenericOp>();
    if (source && source->hasOneUse()) {
      found = operand;
      unfolded = unfolding.getIndexingMapsArray().front();
    }
  }
  if (!found)
    return nullptr;
  for (AffineExpr index : unfolded.getResults())
    for (OpOperand *operand : op.getDpsInputOperands())
      for (unsigned dim = 0; dim < unfolded.getNumDims(); ++dim)
        if (!isa<AffineDimExpr>(index) && operand != found && index.isFunctionOfDim(dim) &&
            op.getMatchingIndexingMap(operand).isFunctionOfDim(dim))
          return nullptr;
  return found;
}

/// Applies the operator to the operand of the unfolding that makes `operand`, and unfolds the
/// result.
void applyBefore(linalg::GenericOp op, OpOperand *operand) {
  auto unfolding = operand->get().getDefiningOp<linalg::GenericOp>();
  Value source = unfolding.getInputs().front();
  OpBuilder builder(op);
  const AffineMap unfolded = unfolding.getIndexingMapsArray().front();
  const auto rank = unfolded.getNumResults();
  llvm::SmallVector<AffineExpr> loops(unfolded.getNumDims()); // The new loop for each old loop.
  for (auto [d, index] : llvm::enumerate(unfolded.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(index))
      loops[dim.getPosition()] = builder.getAffineDimExpr(static_cast<unsigned>(d));
  for (AffineExpr &loop : loops) // The other operands do not vary along the joined dimensions.
    loop = loop ? loop : builder.getAffineConstantExpr(0);
  llvm::SmallVector<AffineMap> maps;
  for (OpOperand &each : op->getOpOperands()) {
    const bool isWhole = &each == operand || op.isDpsInit(&each);
    const AffineMap map = op.getMatchingIndexingMap(&each);
    maps.push_back(isWhole ? builder.getMultiDimIdentityMap(rank)
                           : map.replaceDimsAndSymbols(loops, {}, rank, 0));
  }
  const Type element = getElementTypeOrSelf(op.getResult(0));
  Value empty = builder.create<tensor::EmptyOp>(op.getLoc(), tensorDims(builder, source), element);
  llvm::SmallVector<Value> inputs(op.getDpsInputs());
  inputs[operand->getOperandNumber()] = source;
  auto before = builder.create<linalg::GenericOp>(
      op.getLoc(), TypeRange(empty.getType()), inputs, empty, maps,
      llvm::SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel));
  before->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&before.getRegion(), mapping);
  Value result = builder.create<tensor::EmptyOp>(
      op.getLoc(), tensorDims(builder, unfolding.getResult(0)), element);
  auto after = builder.create<linalg::GenericOp>(
      unfolding.getLoc(), TypeRange(result.getType()), before.getResult(0), result,
      unfolding.getIndexingMapsArray(), unfolding.getIteratorTypesArray(),
      [](OpBuilder &inside, Location at, ValueRange values) {
        inside.create<linalg::YieldOp>(at, values.front());
      });
  copyTensorName(op, after);
  op.getResult(0).replaceAllUsesWith(after.getResult(0));
  op.erase();
  unfolding.erase();
}

struct DistributeElementwisePass : impl::DistributeElementwiseBase<DistributeElementwisePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (auto op :
         llvm::make_early_inc_range(function.getBody().front().getOps<linalg::GenericOp>())) {
      if (OpOperand *unfolded = unfoldedOperand(op)) {
        applyBefore(op, unfolded);
        continue;
      }
      OpOperand *operand = interleavedOperand(op);
      if (!operand)
        continue;
      OpBuilder builder(op);
      auto before = operand->get().getDefiningOp<ConcatOp>();
      Value result = apply(builder, op, operand->getOperandNumber(), before.getResult());
      copyTensorName(op, result.getDefiningOp());
      op.getResult(0).replaceAllUsesWith(result);
      op.erase();
      eraseUnused(before);
    }
  }

  static void eraseUnused(ConcatOp concat) {
    llvm::SmallVector<Value> inputs(concat.getInputs());
    concat.erase();
    for (Value input : inputs)
      if (ConcatOp inner = interleaving(input); inner && inner->use_empty())
        eraseUnused(inner);
  }
};

} // namespace
} // namespace gantry::codegen

// Implements the pass form-dispatches (Passes.td), which groups operators into dispatches (kernel
// launches). fusion_groups.h decides which operators become one dispatch; this file builds the
// dispatches.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_FORMDISPATCHES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns the number of floating-point operations of the members of a group. For each member, it
/// is the number of operations of its body times the extents of its loops.
OpFoldResult countFlops(OpBuilder &builder, llvm::ArrayRef<Operation *> members) {
  OpFoldResult total = builder.getIndexAttr(0);
  AffineExpr a = builder.getAffineSymbolExpr(0), b = builder.getAffineSymbolExpr(1);
  for (Operation *member : members) {
    auto generic = dyn_cast<linalg::GenericOp>(member);
    if (!generic)
      continue;
    int64_t perPoint = 0;
    for (Operation &op : generic.getRegion().front())
      perPoint += op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType()) &&
                  !isa<arith::ConstantOp, arith::SelectOp, tensor::ExtractOp>(op);
    if (perPoint == 0)
      continue;
    Location loc = generic.getLoc();
    OpFoldResult work = builder.getIndexAttr(perPoint);
    llvm::SmallBitVector known(generic.getNumLoops());
    for (OpOperand &operand : generic->getOpOperands()) {
      if (!isTensor(operand.get()))
        continue;
      auto dims = tensorDims(builder, operand.get());
      AffineMap map = generic.getMatchingIndexingMap(&operand);
      for (auto [i, expr] : llvm::enumerate(map.getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim || known.test(dim.getPosition()))
          continue;
        known.set(dim.getPosition());
        work = affine::makeComposedFoldedAffineApply(builder, loc, a * b, {work, dims[i]});
      }
    }
    total = affine::makeComposedFoldedAffineApply(builder, loc, a + b, {total, work});
  }
  return total;
}

/// Builds the dispatch of a group. The group's root is the operator whose result is stored; the
/// other members are the operators that are evaluated inline.
class DispatchBuilder {
public:
  DispatchBuilder(const FusionGroups &groups, const FusionGroup &group)
      : groups_(groups), group_(group), builder_(group.root) {
    collect(group.root);
  }

  /// Builds the dispatch for one result of the root, and replaces the result by that of the
  /// dispatch.
  void build(OpResult result) {
    llvm::SmallVector<int64_t> operandDims, resultDims, positionDims;
    for (Value operand : operands_)
      addDims(operand, operandDims);
    addDims(result, resultDims);
    auto scatter = dyn_cast<ScatterOp>(group_.root);
    if (scatter)
      addDims(scatter.getPositions(), positionDims);

    llvm::SmallVector<Location> locations;
    for (Operation *member : members_)
      if (isComputeOp(member))
        locations.push_back(member->getLoc());
    Location loc = FusedLoc::get(builder_.getContext(), locations);
    Value flops = getValueOrCreateConstantIndexOp(builder_, loc,
                                                  countFlops(builder_, members_.getArrayRef()));
    auto dispatch =
        builder_.create<DispatchOp>(loc, result.getType(), operands_.getArrayRef(),
                                    dims_.getArrayRef(), flops, operandDims, resultDims);
    dispatch.setRows(group_.rows);
    if (scatter) {
      size_t next = 0;
      llvm::SmallVector<int64_t> extents;
      for (int64_t extent : cast<RankedTensorType>(scatter.getPositions().getType()).getShape())
        extents.push_back(ShapedType::isDynamic(extent) ? -1 - positionDims[next++] : extent);
      dispatch.setScattered(extents);
      dispatch.setInPlace(
          std::distance(operands_.begin(), llvm::find(operands_, scatter.getData())));
    }
    copyTensorName(group_.root, dispatch);
    if (isCopy())
      dispatch.setCopyReason(copyReason());
    fill(dispatch, result);
    result.replaceAllUsesWith(dispatch.getResult());
  }

private:
  /// Returns whether the group only moves elements of other tensors.
  bool isCopy() const {
    if (auto scatter = dyn_cast<ScatterOp>(group_.root))
      return isMoved(scatter.getUpdates());
    if (auto fill = dyn_cast<linalg::GenericOp>(group_.root); fill && fill.getInputs().empty())
      return false;
    return isComputeOp(group_.root) && llvm::all_of(members_, [](Operation *member) {
             return !isComputeOp(member) || movesElements(member);
           });
  }

  /// Returns whether the members that the value depends on only move elements.
  bool isMoved(Value value) const {
    Operation *producer = value.getDefiningOp();
    return !producer || !members_.contains(producer) || !isComputeOp(producer) ||
           (isMovement(producer) &&
            llvm::all_of(usedValues(producer), [&](Value operand) { return isMoved(operand); }));
  }

  /// Returns why the moved elements are stored, although their readers could in general read them
  /// at their old places. This is the reason that an earlier pass has noted (`gantry.why`), or one
  /// that follows from the kind of the root and of its readers.
  std::string copyReason() const {
    if (auto why = GantryDialect::WhyAttrHelper(group_.root->getContext()).getAttr(group_.root))
      return why.getValue().str();
    if (isa<ScatterOp>(group_.root))
      return "no operator computes the rows that are replaced";
    if (isShuffle(group_.root))
      return "no strides describe the order of the elements";
    for (Operation *user : group_.root->getUsers()) {
      if (isa<func::ReturnOp>(user))
        return "the program returns the tensor";
      if (isa<ConcatOp>(user))
        return "a concatenation needs the elements in its slice";
      if (!isComputeOp(user))
        return "a reshape needs the elements in this order";
    }
    return "a reader would bind more buffers than the device allows";
  }

  /// Adds the operation, and all operations inside the group that it needs, to members_. Adds the
  /// tensors and the sizes that they read from outside of the group to operands_ and to dims_.
  void collect(Operation *op) {
    if (members_.contains(op))
      return;
    for (Value value : usedValues(op)) {
      Operation *producer = value.getDefiningOp();
      if (value.getType().isIndex() && !matchPattern(value, m_Constant()))
        dims_.insert(value);
      else if (isTensor(value) && !isFreeValue(value) &&
               !(producer && groups_.isMember(producer, group_)))
        operands_.insert(value);
      else if (producer)
        collect(producer);
    }
    members_.insert(op);
  }

  /// Appends to `positions` the position in dims_ of each dynamic size of the tensor. Adds the
  /// sizes to dims_ where they are missing.
  void addDims(Value tensor, llvm::SmallVectorImpl<int64_t> &positions) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.hasStaticShape())
      return;
    auto extents = tensorDims(builder_, tensor);
    for (auto [i, extent] : llvm::enumerate(extents)) {
      if (!type.isDynamicDim(i))
        continue;
      Value value = getValueOrCreateConstantIndexOp(builder_, group_.root->getLoc(), extent);
      dims_.insert(value);
      positions.push_back(std::distance(dims_.begin(), llvm::find(dims_, value)));
    }
  }

  /// Clones the members into the region of the dispatch.
  void fill(DispatchOp dispatch, OpResult result) {
    Block &block = dispatch.getBody().front();
    IRMapping mapping;
    mapping.map(operands_, block.getArguments().take_front(operands_.size()));
    mapping.map(dims_, block.getArguments().drop_front(operands_.size()));
    OpBuilder inside = OpBuilder::atBlockBegin(&block);
    for (Operation *member : members_)
      if (!isa<ScatterOp>(member))
        inside.clone(*member, mapping)
            ->removeDiscardableAttr(GantryDialect::TensorAttrHelper::getNameStr());
    if (auto scatter = dyn_cast<ScatterOp>(group_.root))
      inside.create<YieldOp>(dispatch.getLoc(), mapping.lookup(scatter.getUpdates()),
                             mapping.lookup(scatter.getPositions()));
    else
      inside.create<YieldOp>(dispatch.getLoc(), mapping.lookup(Value(result)));
  }

  const FusionGroups &groups_;
  const FusionGroup &group_;
  OpBuilder builder_;
  llvm::SetVector<Value> operands_, dims_;
  llvm::SetVector<Operation *> members_; // Producers come before their consumers.
};

struct FormDispatchesPass : impl::FormDispatchesBase<FormDispatchesPass> {
  using FormDispatchesBase::FormDispatchesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Block &block = function.getBody().front();
    hoistArgumentDims(block);
    const FusionGroups groups(block, maxBuffers, scoreBytes);
    // Dispatches are built in program order, so that their operands are already results of
    // dispatches.
    for (const std::unique_ptr<FusionGroup> &group : groups.groups())
      for (OpResult result : group->root->getResults())
        if (!result.use_empty())
          DispatchBuilder(groups, *group).build(result);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && (isComputeOp(&op) || isMemoryEffectFree(&op)) &&
          !op.hasTrait<OpTrait::IsTerminator>())
        op.erase();
    for (auto dispatch : block.getOps<DispatchOp>())
      if (failed(checkSize(dispatch)))
        return;
  }

  /// Refuses a result with 2^31 or more elements: kernels compute addresses in elements, with
  /// 32-bit integers.
  LogicalResult checkSize(DispatchOp dispatch) {
    auto type = cast<RankedTensorType>(dispatch.getResult().getType());
    if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
      return success();
    uint64_t elements = 1, bytes = 0;
    bool overflows = false;
    for (int64_t size : type.getShape())
      overflows |= __builtin_mul_overflow(elements, uint64_t(size), &elements);
    overflows |=
        __builtin_mul_overflow(elements, std::max(8u, type.getElementTypeBitWidth()) / 8u, &bytes);
    if (!overflows && elements <= INT32_MAX)
      return success();
    const StringAttr name = tensorName(dispatch);
    setAttribute(getOperation(), FailureAttr::get(&getContext(), FailureCause::kUnsupported));
    signalPassFailure();
    return dispatch.emitError() << (name ? "tensor '" + name.getValue().str() + "'" : "a tensor")
                                << " has " << (overflows ? "2^64 or more" : std::to_string(bytes))
                                << " bytes and more than 2^31 - 1 elements, the limit for a tensor";
  }
};

} // namespace
} // namespace gantry::codegen

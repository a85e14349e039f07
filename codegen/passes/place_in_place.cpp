// place-in-place: see Passes.td.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PLACEINPLACE
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Whether every path from `value` to the dispatch's result reads, for an element of the result,
/// only the same element of `value`.
bool readsOnlyOwnElement(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<YieldOp>(user))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic || generic.getNumResults() != 1)
      return false;
    AffineMap map = generic.getMatchingIndexingMap(&use);
    AffineMap output = generic.getIndexingMapsArray().back();
    if (map != output || !output.isProjectedPermutation())
      return false;
    if (generic.getNumReductionLoops() > 0 && !generic.isDpsInit(&use))
      return false;
    if (!readsOnlyOwnElement(generic.getResult(0)))
      return false;
  }
  return true;
}

struct PlaceInPlacePass : impl::PlaceInPlaceBase<PlaceInPlacePass> {
  /// Whether any op after `dispatch` reads the storage of `storage`.
  static bool usedAfter(Value storage, Operation *dispatch) {
    for (Operation *user : storage.getUsers()) {
      if (isa<func::ReturnOp>(user))
        return true;
      bool isView = user->getNumResults() == 1 && storageOf(user->getResult(0)) == storage;
      if (isView ? usedAfterView(user->getResult(0), dispatch) : dispatch->isBeforeInBlock(user))
        return true;
    }
    return false;
  }
  static bool usedAfterView(Value view, Operation *dispatch) {
    for (Operation *user : view.getUsers()) {
      if (isa<func::ReturnOp>(user))
        return true;
      bool isView = user->getNumResults() == 1 && storageOf(user->getResult(0)) == storageOf(view);
      if (isView ? usedAfterView(user->getResult(0), dispatch) : dispatch->isBeforeInBlock(user))
        return true;
    }
    return false;
  }

  void runOnOperation() override {
    getOperation().walk([&](DispatchOp dispatch) {
      if (dispatch.getBody().empty())
        return;
      for (auto [i, operand] : llvm::enumerate(dispatch.getInputs())) {
        if (!canTake(dispatch, i))
          continue;
        dispatch.setInPlace(i);
        return;
      }
    });
  }

  static bool canTake(DispatchOp dispatch, unsigned i) {
    Value operand = dispatch.getInputs()[i];
    Value storage = storageOf(operand);
    auto producer = storage.getDefiningOp<DispatchOp>();
    if (!producer || operand.getType() != dispatch.getResult().getType())
      return false;
    for (auto [j, other] : llvm::enumerate(dispatch.getInputs()))
      if (j != i && storageOf(other) == storage)
        return false;
    // Equal types with dynamic extents: the extents themselves must be equal.
    auto operandDims = dispatch.getOperandDims(), resultDims = dispatch.getResultDims();
    unsigned before = 0;
    for (unsigned j = 0; j < i; ++j)
      before += cast<RankedTensorType>(dispatch.getInputs()[j].getType()).getNumDynamicDims();
    for (size_t d = 0; d < resultDims.size(); ++d)
      if (operandDims[before + d] != resultDims[d])
        return false;
    return readsOnlyOwnElement(dispatch.getBody().front().getArgument(i)) &&
           !usedAfter(storage, dispatch);
  }
};

} // namespace
} // namespace gantry::codegen

#include "codegen/passes/in_place.h"

#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// A reduction over rows in a kernel over rows: an invocation reads of a row what it writes of it,
/// and has the rest from its neighbours (tiling/rows.cpp).
bool isSharedRow(linalg::GenericOp generic, OpOperand &use) {
  return generic.getNumReductionLoops() == 1 &&
         generic.getIteratorTypesArray().back() == utils::IteratorType::reduction &&
         !generic.isDpsInit(&use) && generic.getMatchingIndexingMap(&use).isIdentity();
}

/// Whether, on every path from `value` to the dispatch's result, the invocation that writes an
/// element of the result is the only one that reads the same element of `value`. `rows`: the kernel
/// is one over rows.
bool readsOnlyOwnElement(Value value, bool rows) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<YieldOp>(user))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic || generic.getNumResults() != 1)
      return false;
    if (rows && isSharedRow(generic, use))
      continue;
    AffineMap map = generic.getMatchingIndexingMap(&use);
    AffineMap output = generic.getIndexingMapsArray().back();
    if (map != output || !output.isProjectedPermutation())
      return false;
    if (generic.getNumReductionLoops() > 0 && !generic.isDpsInit(&use))
      return false;
    if (!readsOnlyOwnElement(generic.getResult(0), rows))
      return false;
  }
  return true;
}

} // namespace

bool isDonatedInput(Value storage) {
  auto argument = dyn_cast<BlockArgument>(storage);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), "gantry.donated");
}

bool isUsedAfter(Value storage, Operation *dispatch) {
  for (Operation *user : storage.getUsers()) {
    if (isa<func::ReturnOp>(user))
      return true;
    const bool isView =
        user->getNumResults() == 1 && storageOf(user->getResult(0)) == storageOf(storage);
    if (isView ? isUsedAfter(user->getResult(0), dispatch) : dispatch->isBeforeInBlock(user))
      return true;
  }
  return false;
}

bool mayTakeStorage(DispatchOp dispatch, unsigned i) {
  if (dispatch.getBody().empty())
    return false;
  Value operand = dispatch.getInputs()[i];
  Value storage = storageOf(operand);
  auto move = storage.getDefiningOp<MoveOp>();
  const bool ours =
      storage.getDefiningOp<DispatchOp>() || (move && !move.getToHost()) || isDonatedInput(storage);
  if (!ours || operand.getType() != dispatch.getResult().getType())
    return false;
  if (auto layouts = dispatch->getAttrOfType<ArrayAttr>("gantry.layouts"))
    if (layouts[i] != layouts.getValue().back())
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
  return readsOnlyOwnElement(dispatch.getBody().front().getArgument(i),
                             dispatch->hasAttr("gantry.rows"));
}

} // namespace gantry::codegen

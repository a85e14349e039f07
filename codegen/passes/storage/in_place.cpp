// Implements the rules by which a dispatch's result may take an operand's storage.
#include "codegen/passes/storage/in_place.h"

#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Returns whether `use`, a use in a row kernel (tiling/emitter/row_kernel.h), is the operand of a
/// reduction over the last dimension. In such a kernel, as for a softmax, a subgroup computes a
/// row, and an invocation reads only the part of the row that it writes. It gets the partial
/// results of the other parts from other invocations by subgroup operations.
bool isSharedRow(linalg::GenericOp generic, OpOperand &use) {
  return generic.getNumReductionLoops() == 1 &&
         generic.getIteratorTypesArray().back() == utils::IteratorType::reduction &&
         !generic.isDpsInit(&use) && generic.getMatchingIndexingMap(&use).isIdentity();
}

/// Returns whether an element of `value`, a value in the region of a dispatch, is read only by the
/// invocation that writes the same element of the dispatch's result. Checks every path from `value`
/// to the result. rows: the dispatch is a row kernel.
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
  if (!function)
    return false;
  auto port = argumentAttribute<PortAttr>(function, argument.getArgNumber());
  return port && port.getDonated();
}

Value startOfScatters(DispatchOp dispatch) {
  Value start;
  while (dispatch && dispatch.getScattered()) {
    start = viewedTensor(dispatch.getInputs()[*dispatch.getInPlace()]);
    dispatch = start.getDefiningOp<DispatchOp>();
  }
  return start;
}

bool isNextState(DispatchOp dispatch, unsigned i) {
  auto argument = dyn_cast<BlockArgument>(viewedTensor(dispatch.getInputs()[i]));
  auto function = dyn_cast<func::FuncOp>(dispatch->getParentOp());
  if (!argument || !function)
    return false;
  auto state = argumentAttribute<StateAttr>(function, argument.getArgNumber());
  if (!state || state.getResult() < 0)
    return false;
  Operation *end = function.getBody().front().getTerminator();
  return viewedTensor(end->getOperand(state.getResult())) == dispatch.getResult();
}

bool isUsedAfter(Value storage, Operation *dispatch) {
  for (Operation *user : storage.getUsers()) {
    if (isa<func::ReturnOp>(user))
      return true;
    const bool isView =
        user->getNumResults() == 1 && viewedTensor(user->getResult(0)) == viewedTensor(storage);
    if (isView ? isUsedAfter(user->getResult(0), dispatch) : dispatch->isBeforeInBlock(user))
      return true;
  }
  return false;
}

bool mayTakeStorage(DispatchOp dispatch, unsigned i) {
  Value storage = viewedTensor(dispatch.getInputs()[i]);
  auto move = storage.getDefiningOp<MoveOp>();
  const bool ours =
      storage.getDefiningOp<DispatchOp>() || (move && !move.getToHost()) || isDonatedInput(storage);
  return ours && mayOverwrite(dispatch, i);
}

bool mayOverwrite(DispatchOp dispatch, unsigned i) {
  if (dispatch.getBody().empty() || (dispatch.getScattered() && dispatch.getInPlace() != i))
    return false;
  Value operand = dispatch.getInputs()[i];
  if (isInSharedStorage(operand) || isInSharedStorage(dispatch.getResult()))
    return false;
  Value storage = viewedTensor(operand);
  if (operand.getType() != dispatch.getResult().getType())
    return false;
  if (auto layouts = dispatch.getLayoutsAttr(); layouts && layouts[i] != layouts.getValue().back())
    return false;
  for (auto [j, other] : llvm::enumerate(dispatch.getInputs()))
    if (j != i && viewedTensor(other) == storage)
      return false;
  // Equal types may have different dynamic extents, which must be equal too. The result of a
  // scatter always has the extents of the operand whose rows it replaces.
  auto operandDims = dispatch.getOperandDims(), resultDims = dispatch.getResultDims();
  unsigned before = 0;
  for (unsigned j = 0; j < i; ++j)
    before += cast<RankedTensorType>(dispatch.getInputs()[j].getType()).getNumDynamicDims();
  for (size_t d = 0; d < resultDims.size() && !dispatch.getScattered(); ++d)
    if (operandDims[before + d] != resultDims[d])
      return false;
  return readsOnlyOwnElement(dispatch.getBody().front().getArgument(i), dispatch.getRows());
}

} // namespace gantry::codegen

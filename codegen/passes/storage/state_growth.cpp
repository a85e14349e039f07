// Implements the search for states that grow.
#include "codegen/passes/storage/state_growth.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/tensor_dims.h"

namespace gantry::codegen {

using namespace mlir;

bool isNextOf(StateAttr state, func::FuncOp function, Value tensor) {
  Operation *end = function.getBody().front().getTerminator();
  const auto isTensor = [&](Value value) { return viewedTensor(value) == tensor; };
  return state.getResult() >= 0 &&
         isTensor(end->getOperand(static_cast<unsigned>(state.getResult()))) &&
         llvm::count_if(end->getOperands(), isTensor) == 1;
}

Operation *onlyUserOf(Value tensor) {
  while (true) {
    Operation *only = nullptr;
    for (OpOperand &use : tensor.getUses()) {
      if (isa<tensor::DimOp>(use.getOwner()))
        continue;
      if (only)
        return nullptr;
      only = use.getOwner();
    }
    if (!isReshape(only))
      return only;
    tensor = only->getResult(0);
  }
}

tensor::ConcatOp growthOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  const auto state = argumentAttribute<StateAttr>(function, argument.getArgNumber());
  auto concat = dyn_cast_or_null<tensor::ConcatOp>(onlyUserOf(argument));
  if (!state || !concat || concat.getInputs().size() < 2 ||
      concat.getInputs().front() != argument || !isNextOf(state, function, concat.getResult()))
    return {};
  const auto dim = static_cast<int64_t>(concat.getDim());
  const auto shape = cast<RankedTensorType>(argument.getType()).getShape();
  const auto hasSameRows = [&](Value tensor) {
    for (auto [d, extent] : llvm::enumerate(cast<RankedTensorType>(tensor.getType()).getShape()))
      if (static_cast<int64_t>(d) != dim && extent != shape[d])
        return false;
    return true;
  };
  return ShapedType::isDynamic(shape[dim]) && hasSameRows(concat.getResult()) &&
                 llvm::all_of(concat.getInputs(), hasSameRows)
             ? concat
             : tensor::ConcatOp();
}

} // namespace gantry::codegen

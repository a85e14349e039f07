// Implements the pass assign-storage (Passes.td), which lets results of dispatches take the storage
// of operands, and describes tensors that lie inside of others.
#include "codegen/passes/storage/in_place.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_ASSIGNSTORAGE
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct AssignStoragePass : impl::AssignStorageBase<AssignStoragePass> {
  using AssignStorageBase::AssignStorageBase;

  void runOnOperation() override {
    for (DispatchOp dispatch : getOperation().getOps<DispatchOp>()) {
      if (!dispatch.getScattered()) {
        takeOperand(dispatch);
      } else if (Value data = viewedTensor(dispatch.getInputs()[*dispatch.getInPlace()]);
                 !mayOverwrite(dispatch, *dispatch.getInPlace()) || isUsedAfter(data, dispatch)) {
        dispatch.emitError("the tensor whose rows are replaced cannot be overwritten in place; "
                           "place-scatters must copy such a tensor first");
        return signalPassFailure();
      }
      describeBoxes(dispatch);
    }
  }

  /// Lets the result take the storage of the first operand that allows it. The input of the state
  /// whose next value the result is (isNextState()) is preferred to other operands.
  static void takeOperand(DispatchOp dispatch) {
    const auto takeFirst = [&](auto mayTake) {
      for (auto [i, operand] : llvm::enumerate(dispatch.getInputs()))
        if (mayTake(i) && !isUsedAfter(viewedTensor(operand), dispatch)) {
          dispatch.setInPlace(i);
          return true;
        }
      return false;
    };
    if (!takeFirst(
            [&](unsigned i) { return isNextState(dispatch, i) && mayOverwrite(dispatch, i); }))
      takeFirst([&](unsigned i) { return mayTakeStorage(dispatch, i); });
  }

  /// Sets the layouts of those operands and results of the dispatch that are boxes in a larger
  /// storage (placement.h), so that kernels compute their addresses correctly.
  void describeBoxes(DispatchOp dispatch) {
    llvm::SmallVector<Attribute> layouts;
    if (dispatch.getLayouts())
      layouts.assign(dispatch.getLayouts()->begin(), dispatch.getLayouts()->end());
    else
      layouts.assign(dispatch.getInputs().size() + 1, LayoutAttr::get(&getContext(), {}));
    bool any = false;
    llvm::SmallVector<Value> tensors(dispatch.getInputs());
    tensors.push_back(dispatch.getResult());
    for (auto [tensor, layout] : llvm::zip(tensors, layouts)) {
      const Placement place = placementOf(tensor);
      if (place.storage == place.box)
        continue;
      const auto own = cast<LayoutAttr>(layout);
      const LayoutAttr boxed =
          boxedLayout(place, own.getParts(), remainderOf(place, own.getParts()));
      any |= boxed != own;
      layout = boxed;
    }
    if (any)
      dispatch.setLayoutsAttr(ArrayAttr::get(&getContext(), layouts));
  }

  /// Returns the number of elements from the start of the bound buffer to the box. A buffer is
  /// bound at the last multiple of `alignment` bytes that is not after the box.
  int64_t remainderOf(const Placement &place, llvm::ArrayRef<int64_t> parts) const {
    const int64_t elementBytes = std::max<int64_t>(
        1, cast<RankedTensorType>(place.box.getType()).getElementTypeBitWidth() / 8);
    return startOf(place, parts) * elementBytes % static_cast<int64_t>(alignment) / elementBytes;
  }
};

} // namespace
} // namespace gantry::codegen

// place-in-place: see Passes.td.
#include "codegen/passes/in_place.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PLACEINPLACE
#include "codegen/passes/Passes.h.inc"

namespace {

struct PlaceInPlacePass : impl::PlaceInPlaceBase<PlaceInPlacePass> {
  void runOnOperation() override {
    getOperation().walk([](DispatchOp dispatch) {
      const auto placeIn = [&](auto mayTake) {
        for (auto [i, operand] : llvm::enumerate(dispatch.getInputs()))
          if (mayTake(i) && !isUsedAfter(viewedTensor(operand), dispatch)) {
            dispatch.setInPlace(i);
            return true;
          }
        return false;
      };
      if (!placeIn(
              [&](unsigned i) { return isNextState(dispatch, i) && mayOverwrite(dispatch, i); }))
        placeIn([&](unsigned i) { return mayTakeStorage(dispatch, i); });
    });
  }
};

} // namespace
} // namespace gantry::codegen

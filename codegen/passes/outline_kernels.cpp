// Implements the pass outline-kernels (Passes.td), which moves the region of each dispatch (kernel
// launch) into a module of its own. Dispatches with equal regions share a module, their kernel.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/tiling/tile_choice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace gantry::codegen {

#define GEN_PASS_DEF_OUTLINEKERNELS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr double kMaxSteps = 1e18; // Limit on the number of steps, so that it fits into 64 bits.

struct OutlineKernelsPass : impl::OutlineKernelsBase<OutlineKernelsPass> {
  /// Returns a text that is equal for two dispatches if and only if they can share a kernel. The
  /// text does not contain locations.
  static std::string fingerprint(DispatchOp dispatch) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (Value operand : dispatch.getInputs())
      stream << operand.getType() << ',';
    stream << dispatch.getResult().getType();
    for (int64_t dim : dispatch.getOperandDims())
      stream << ' ' << dim;
    for (int64_t dim : dispatch.getResultDims())
      stream << '|' << dim;
    stream << dispatch.getLayoutsAttr() << dispatch.getRowsAttr();
    stream << dispatch.getScatteredAttr();
    AsmState state(dispatch, OpPrintingFlags().useLocalScope());
    for (Operation &op : dispatch.getBody().front()) {
      stream << '\n';
      op.print(stream, state);
    }
    return text;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<SymbolRefAttr> known;
    OpBuilder builder(&getContext());
    llvm::SmallVector<DispatchOp> dispatches;
    module.walk([&](DispatchOp dispatch) {
      if (!dispatch.getBody().empty())
        dispatches.push_back(dispatch);
    });
    double steps = 0;
    for (DispatchOp dispatch : dispatches)
      steps += stepsOf(dispatch);
    programSteps = static_cast<int64_t>(std::min(steps, kMaxSteps));
    for (DispatchOp dispatch : dispatches) {
      auto [found, inserted] = known.try_emplace(fingerprint(dispatch));
      if (inserted)
        found->second = outline(dispatch, "kernel_" + std::to_string(known.size() - 1), builder);
      dispatch.setKernelAttr(found->second);
      Region empty;
      dispatch.getBody().takeBody(empty);
    }
  }

  /// Returns the number of steps of all loop nests of a dispatch. A dynamic extent counts as
  /// kTypicalDynamicExtent.
  static double stepsOf(DispatchOp dispatch) {
    double steps = 0;
    dispatch.getBody().walk([&](linalg::GenericOp op) {
      double volume = 1;
      for (int64_t extent : op.getStaticLoopRanges())
        volume *= double(ShapedType::isDynamic(extent) ? kTypicalDynamicExtent : extent);
      steps += volume;
    });
    return steps;
  }

  /// Moves the region of a dispatch into a new kernel module and returns the module's name.
  SymbolRefAttr outline(DispatchOp dispatch, const std::string &name, OpBuilder &builder) {
    builder.setInsertionPointToEnd(getOperation().getBody());
    Location loc = dispatch.getLoc();
    auto kernelModule = builder.create<ModuleOp>(loc, name);
    setAttribute(kernelModule, KernelAttr::get(&getContext(), {}, {}, programSteps));
    builder.setInsertionPointToStart(kernelModule.getBody());
    auto yield = cast<YieldOp>(dispatch.getBody().front().getTerminator());
    auto type = builder.getFunctionType(dispatch.getBody().front().getArgumentTypes(),
                                        yield.getOperandTypes());
    auto function = builder.create<func::FuncOp>(loc, name, type);
    llvm::SmallVector<int64_t> resultDims(dispatch.getResultDims());
    if (dispatch.getScattered()) { // The function returns the rows and their positions.
      llvm::SmallVector<int64_t> outer;
      for (int64_t extent : dispatch.getScatteredAttr().asArrayRef())
        if (extent < 0)
          outer.push_back(-1 - extent);
      if (cast<RankedTensorType>(dispatch.getResult().getType()).isDynamicDim(0))
        resultDims.erase(resultDims.begin());
      resultDims.insert(resultDims.begin(), outer.begin(), outer.end());
      resultDims.append(outer);
    }
    llvm::SmallVector<LayoutAttr> layouts;
    if (dispatch.getLayouts())
      llvm::append_range(layouts, dispatch.getLayouts()->getAsRange<LayoutAttr>());
    setAttribute(function, SignatureAttr::get(&getContext(), dispatch.getOperandDims(), resultDims,
                                              layouts, dispatch.getRows(), {}));
    function.getBody().takeBody(dispatch.getBody());
    builder.setInsertionPoint(yield);
    builder.create<func::ReturnOp>(loc, yield.getOperands());
    yield.erase();
    return SymbolRefAttr::get(builder.getContext(), name);
  }

  int64_t programSteps = 0; // The number of loop steps of all dispatches.
};

} // namespace
} // namespace gantry::codegen

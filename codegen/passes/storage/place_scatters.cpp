// Implements the pass place-scatters (Passes.td), which copies the tensors whose rows a
// gantry.scatter may not replace in place.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PLACESCATTERS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns the only operation, apart from reshapes, that uses the elements of a tensor or of its
/// reshapes; null if there are several or none.
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
    if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(only))
      return only;
    tensor = only->getResult(0);
  }
}

struct PlaceScattersPass : impl::PlaceScattersBase<PlaceScattersPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    hoistArgumentDims(function.getBody().front()); // Copies of arguments need their sizes.
    llvm::SmallVector<ScatterOp> scatters(function.getOps<ScatterOp>());
    // The last scatter is handled first: a chain (lastOfChain()) ends before a scatter whose
    // operand is copied, and whyCopied() for the earlier scatters depends on the end of their
    // chain.
    for (ScatterOp scatter : llvm::reverse(scatters)) {
      const llvm::StringRef reason = whyCopied(scatter);
      if (reason.empty())
        continue;
      OpBuilder builder(scatter);
      Value copy = copyTensor(builder, scatter.getLoc(), scatter.getData());
      copy.getDefiningOp()->setDiscardableAttr(GantryDialect::WhyAttrHelper::getNameStr(),
                                               builder.getStringAttr(reason));
      scatter.getDataMutable().assign(copy);
    }
  }

  /// Returns the last scatter of the chain that begins with this one. Each scatter of a chain
  /// replaces rows of the result of the one before.
  static ScatterOp lastOfChain(ScatterOp scatter) {
    while (true) {
      auto next = dyn_cast_or_null<ScatterOp>(onlyUserOf(scatter.getResult()));
      if (!next || viewedTensor(next.getData()) != scatter.getResult())
        return scatter;
      scatter = next;
    }
  }

  /// Returns why the rows cannot be written into the scatter's operand `data`, so that it must be
  /// copied first; empty if they can.
  static llvm::StringRef whyCopied(ScatterOp scatter) {
    Value data = viewedTensor(scatter.getData());
    if (isReturned(data))
      return "the program returns the tensor before its rows are replaced";
    if (onlyUserOf(data) != scatter.getOperation())
      return "the tensor is used besides the replacement of its rows";
    if (isInSharedStorage(data))
      return "the tensor lies in the storage of a concatenation";
    if (auto argument = dyn_cast<BlockArgument>(data))
      return whyInputCopied(scatter, argument);
    if (!isComputeOp(data.getDefiningOp()) || isFreeValue(data))
      return "the tensor is a constant";
    return {};
  }

  /// Returns the result of whyCopied() for data that is an input of the program.
  static llvm::StringRef whyInputCopied(ScatterOp scatter, BlockArgument input) {
    auto function = cast<func::FuncOp>(scatter->getParentOp());
    ScatterOp last = lastOfChain(scatter);
    const bool returned = isReturned(last.getResult());
    if (auto state = argumentAttribute<StateAttr>(function, input.getArgNumber())) {
      Operation *end = function.getBody().front().getTerminator();
      const auto isLast = [&](Value value) { return viewedTensor(value) == last.getResult(); };
      const bool isNext = state.getResult() >= 0 &&
                          isLast(end->getOperand(static_cast<unsigned>(state.getResult()))) &&
                          llvm::count_if(end->getOperands(), isLast) == 1;
      return isNext ? "" : "the input is a state that keeps its value";
    }
    auto port = argumentAttribute<PortAttr>(function, input.getArgNumber());
    if (!port || !port.getDonated())
      return "the caller keeps the input";
    return returned ? "the result lies in the caller's output" : "";
  }
};

} // namespace
} // namespace gantry::codegen

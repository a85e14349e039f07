// order-dispatches: see Passes.td.
#include "codegen/passes/dispatch_graph.h"
#include "codegen/passes/passes.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_ORDERDISPATCHES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct OrderDispatchesPass : impl::OrderDispatchesBase<OrderDispatchesPass> {
  using OrderDispatchesBase::OrderDispatchesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Block &block = function.getBody().front();
    DispatchGraph graph = dispatchGraphOf(function);
    plan::OrderOptions options;
    options.maxStageGrowth = maxStageGrowth / 100.0;
    Result<plan::Order> order = plan::searchOrder(graph.problem, options);
    if (!order.isOk()) {
      function.emitError("the order search failed: ") << order.status().message();
      return signalPassFailure();
    }
    setAttribute(function, OrderAttr::get(&getContext(), order->givenPeakBytes, order->givenStages,
                                          order->stages));
    if (order->peakBytes >= order->givenPeakBytes)
      return; // The model's own order is kept if the search has found no order with a lower peak.
    arrange(block, graph.dispatches, order->operators);
  }

  /// Moves the dispatches into the given order. The views and sizes that a dispatch reads are moved
  /// before it.
  static void arrange(Block &block, ArrayRef<DispatchOp> dispatches, ArrayRef<uint32_t> order) {
    llvm::SmallPtrSet<Operation *, 32> placed;
    Operation *end = block.getTerminator();
    llvm::unique_function<void(Operation *)> place = [&](Operation *op) {
      if (!op || op->getBlock() != &block || !placed.insert(op).second)
        return;
      for (Value operand : op->getOperands())
        place(operand.getDefiningOp());
      op->moveBefore(end);
    };
    SmallVector<Operation *> others;
    for (Operation &op : block.without_terminator())
      if (!isa<DispatchOp>(op))
        others.push_back(&op);
    for (uint32_t at : order)
      place(dispatches[at]);
    for (Operation *op : others)
      place(op);
  }
};

} // namespace
} // namespace gantry::codegen

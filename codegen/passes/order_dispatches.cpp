// Implements the pass order-dispatches (Passes.td), which orders the dispatches (kernel launches)
// such that few bytes are alive at the same time. A state is a tensor that the program keeps
// between runs: an input of the function holds its value, and a result is its next value.
#include "codegen/passes/dispatch_graph.h"
#include "codegen/passes/storage/in_place.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_ORDERDISPATCHES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// A state's input, and the dispatch that computes the state's next value.
struct StateUpdate {
  BlockArgument input;
  DispatchOp dispatch;
};

/// Returns the updates of all states whose next value a dispatch computes.
SmallVector<StateUpdate> stateUpdatesOf(func::FuncOp function) {
  SmallVector<StateUpdate> updates;
  Operation *end = function.getBody().front().getTerminator();
  for (BlockArgument argument : function.getArguments()) {
    const auto state = argumentAttribute<StateAttr>(function, argument.getArgNumber());
    if (!state || state.getResult() < 0)
      continue;
    Value next = viewedTensor(end->getOperand(static_cast<unsigned>(state.getResult())));
    if (auto dispatch = next.getDefiningOp<DispatchOp>())
      updates.push_back({argument, dispatch});
  }
  return updates;
}

/// Returns whether only the function's return uses the tensor, directly or through views.
bool isOnlyReturned(Value tensor) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    if (isa<func::ReturnOp>(user))
      return true;
    return user->getNumResults() == 1 && viewedTensor(user->getResult(0)) == viewedTensor(tensor) &&
           isOnlyReturned(user->getResult(0));
  });
}

/// Moves a tensor's views to the end of the block. isOnlyReturned(tensor) must hold.
void moveViewsToEnd(Value tensor, Operation *end) {
  for (Operation *user : llvm::make_early_inc_range(tensor.getUsers()))
    if (user != end) {
      user->moveBefore(end);
      moveViewsToEnd(user->getResult(0), end);
    }
}

/// Moves each update of a state to the end of the function if the old value is read or returned
/// later, so that the new value can be written over the old one. Does not move an update whose
/// result a dispatch reads.
void sinkStateUpdates(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  for (StateUpdate &update : stateUpdatesOf(function)) {
    if (!isUsedAfter(update.input, update.dispatch) || !isOnlyReturned(update.dispatch.getResult()))
      continue;
    update.dispatch->moveBefore(end);
    moveViewsToEnd(update.dispatch.getResult(), end);
  }
}

/// Adds to graph.problem, the input of the order search, the condition that the readers of a state
/// precede the state's update: each reader writes an artificial value of size 0, which the update
/// reads. There is no condition for a reader that comes after the update in the function.
void keepReadersBeforeUpdates(func::FuncOp function, DispatchGraph &graph) {
  llvm::DenseMap<Operation *, uint32_t> numbers;
  for (auto [i, dispatch] : llvm::enumerate(graph.dispatches))
    numbers[dispatch] = static_cast<uint32_t>(i);
  for (const StateUpdate &update : stateUpdatesOf(function)) {
    const uint32_t writer = numbers.lookup(update.dispatch);
    for (uint32_t reader = 0; reader < writer; ++reader) {
      if (llvm::none_of(graph.dispatches[reader].getInputs(),
                        [&](Value operand) { return viewedTensor(operand) == update.input; }))
        continue;
      const auto token = static_cast<uint32_t>(graph.problem.values.size());
      graph.problem.values.push_back({0, false});
      graph.problem.operators[reader].writes.push_back(token);
      graph.problem.operators[writer].reads.push_back(token);
    }
  }
}

struct OrderDispatchesPass : impl::OrderDispatchesBase<OrderDispatchesPass> {
  using OrderDispatchesBase::OrderDispatchesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Block &block = function.getBody().front();
    sinkStateUpdates(function);
    DispatchGraph graph =
        dispatchGraphOf(function, wholeStorages ? SharedStorage::kWhole : SharedStorage::kInParts);
    keepReadersBeforeUpdates(function, graph);
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

  /// Moves the dispatches into the order `order`. Other operations that a dispatch depends on, such
  /// as views and dynamic sizes, are moved before it, and the rest to the end.
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

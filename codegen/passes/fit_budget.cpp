// Implements the pass fit-budget (Passes.td). It lowers the peak of the arena, the memory of the
// tensors between dispatches (kernel launches), to a budget: tensors leave the arena for a while,
// and are computed again or moved back from the host before their next use.
#include "codegen/passes/dispatch_graph.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"
#include "engine/plan/order/budget.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_FITBUDGET
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

// The unit of costs is the time of one byte of device memory traffic. The bus to the host has about
// 1/16 of the bandwidth of device memory. A device executes about 32 floating-point operations in
// one unit.
constexpr double kHostByteCost = 16;
constexpr double kFlopsPerByte = 32;

double tensorBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return double(type.getNumElements()) * std::max(1u, type.getElementTypeBitWidth() / 8);
}

/// Returns the cost of running a dispatch again. A number of operations that is not constant counts
/// as 0.
double recomputeCost(DispatchOp dispatch) {
  double bytes = tensorBytes(dispatch.getResult());
  for (Value operand : dispatch.getInputs())
    bytes += tensorBytes(operand);
  std::optional<int64_t> flops =
      dispatch.getFlops() ? getConstantIntValue(dispatch.getFlops()) : std::nullopt;
  return bytes + double(flops.value_or(0)) / kFlopsPerByte;
}

/// Returns a dispatch's name for messages: the name of its first operator in the model, in quotes;
/// "one dispatch" if there is no name.
std::string nameOf(Operation *op) {
  const std::string name = operatorName(op);
  return name.empty() ? "one dispatch" : "'" + name + "'";
}

std::string bytesText(uint64_t bytes) {
  char text[64];
  const bool large = bytes >= 1 << 20;
  std::snprintf(text, sizeof text, "%.2f %s (%llu bytes)",
                double(bytes) / (large ? 1 << 20 : 1 << 10), large ? "MiB" : "KiB",
                static_cast<unsigned long long>(bytes));
  return text;
}

struct FitBudgetPass : impl::FitBudgetBase<FitBudgetPass> {
  using FitBudgetBase::FitBudgetBase;

  void runOnOperation() override {
    if (budgetBytes == 0)
      return;
    func::FuncOp function = getOperation();
    for (Type type : function.getArgumentTypes())
      if (!cast<RankedTensorType>(type).hasStaticShape()) {
        function.emitError("a memory budget needs a model whose input shapes are fixed");
        return refuse();
      }
    DispatchGraph graph = dispatchGraphOf(function, SharedStorage::kWhole);
    plan::BudgetProblem problem;
    problem.graph = graph.problem;
    problem.hostByteCost = kHostByteCost;
    for (DispatchOp dispatch : graph.dispatches)
      problem.recomputeCost.push_back(recomputeCost(dispatch));
    Result<plan::BudgetPlan> plan = plan::fitBudget(problem, budgetBytes);
    if (plan.isOk() && !plan->fits) {
      problem.graph = dispatchGraphOf(function, SharedStorage::kInParts).problem;
      Result<plan::BudgetPlan> inParts = plan::fitBudget(problem, budgetBytes);
      if (inParts.isOk() &&
          double(inParts->minPeakBytes) <= kWorthwhileParts * double(plan->minPeakBytes))
        plan = std::move(inParts);
    }
    if (!plan.isOk() || !plan->fits) {
      function.emitError() << (plan.isOk()
                                   ? "the program cannot fit into a budget of " +
                                         bytesText(budgetBytes) + ": the smallest that can is " +
                                         bytesText(plan->minPeakBytes) + ", which " +
                                         nameOf(graph.dispatches[plan->minPeakAt]) +
                                         " needs by itself"
                                   : plan.status().message());
      return refuse();
    }
    int64_t recomputed = 0, moved = 0;
    for (const plan::BudgetAction &action : plan->actions) {
      const bool move = action.kind == plan::BudgetAction::Kind::kMove;
      (move ? moved : recomputed) += 1;
      bringBack(graph.dispatches, action);
    }
    const auto bytes = static_cast<int64_t>(std::min<uint64_t>(budgetBytes, INT64_MAX));
    setAttribute(function, BudgetAttr::get(&getContext(), bytes, plan->givenPeakBytes, recomputed,
                                           plan->recomputedPeakBytes, moved));
  }

private:
  /// Fails the pass, and marks the failure as caused by the user's input: the model or the budget.
  void refuse() {
    setAttribute(getOperation(), FailureAttr::get(&getContext(), FailureCause::kInput));
    signalPassFailure();
  }

  /// Carries out one action. Either computes a value again right before the dispatch
  /// `action.before`, or moves the value to the host right after the dispatch `action.after`, if it
  /// is not there yet, and back right before `action.before`. This dispatch and all later ones then
  /// read the new version of the value.
  void bringBack(ArrayRef<DispatchOp> dispatches, const plan::BudgetAction &action) {
    DispatchOp writer = dispatches[action.value], before = dispatches[action.before];
    OpBuilder builder(before);
    Value fresh;
    if (action.kind == plan::BudgetAction::Kind::kRecompute) {
      auto clone = cast<DispatchOp>(builder.clone(*writer));
      for (OpOperand &operand : clone->getOpOperands()) // The clone reads the latest versions.
        if (isa<RankedTensorType>(operand.get().getType()))
          operand.set(viewOf(builder, operand.get(), latest(viewedTensor(operand.get()))));
      fresh = clone.getResult();
    } else {
      Value &stored = stored_[writer.getResult()];
      if (!stored) {
        OpBuilder after(dispatches[action.after]->getContext());
        after.setInsertionPointAfter(dispatches[action.after]);
        auto store = after.create<MoveOp>(writer.getLoc(), writer.getResult().getType(),
                                          latest(writer.getResult()), after.getUnitAttr());
        copyTensorName(writer, store);
        stored = store.getResult();
      }
      auto load = builder.create<MoveOp>(writer.getLoc(), stored.getType(), stored, UnitAttr());
      copyTensorName(writer, load);
      fresh = load.getResult();
    }
    const Value old = latest(writer.getResult());
    for (DispatchOp reader : dispatches.drop_front(action.before)) {
      OpBuilder here(reader);
      for (OpOperand &operand : reader->getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()) && viewedTensor(operand.get()) == old)
          operand.set(viewOf(here, operand.get(), fresh));
    }
    latest_[writer.getResult()] = fresh;
    origin_[fresh] = writer.getResult();
  }

  /// Returns the latest version of a dispatch's result. `storage` is the result or one of its
  /// versions; any other tensor is returned unchanged.
  Value latest(Value storage) const {
    if (Value own = origin_.lookup(storage))
      storage = own;
    Value version = latest_.lookup(storage);
    return version ? version : storage;
  }

  /// Clones `view`, a chain of reshapes, for another version of the tensor that it views.
  static Value viewOf(OpBuilder &builder, Value view, Value storage) {
    if (viewedTensor(view) == view)
      return storage;
    Operation *op = view.getDefiningOp();
    Value source = viewOf(builder, op->getOperand(0), storage);
    if (source == op->getOperand(0))
      return view;
    Operation *clone = builder.clone(*op);
    clone->setOperand(0, source);
    return clone->getResult(0);
  }

  // The latest version of a dispatch's result, and its copy on the host. The key is the original
  // result.
  llvm::DenseMap<Value, Value> latest_, stored_;
  llvm::DenseMap<Value, Value> origin_; // The original result of each version.
};

} // namespace
} // namespace gantry::codegen

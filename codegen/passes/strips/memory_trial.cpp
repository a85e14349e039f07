// Implements the trial that measures how much memory a program would need.
#include "codegen/passes/strips/memory_trial.h"

#include "codegen/passes/dispatch_graph.h"
#include "codegen/passes/fusion_groups.h"
#include "engine/plan/order/budget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include <algorithm>
#include <numeric>

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Returns the location that an operator of the clone gets. It holds the operator's number in the
/// function, by which storedOperator() finds the original. The passes of the trial keep the
/// locations of the operators that they move into dispatches.
Location numberLocation(MLIRContext *context, unsigned number) {
  return FileLineColLoc::get(context, "operator", number, 0);
}

/// Returns the operator of the original function whose result a dispatch of the clone stores: the
/// last one that the dispatch contains. Null if its result has another shape than that of the
/// dispatch, which may be so for a copy. operators: the function's operators, by number.
Operation *storedOperator(DispatchOp dispatch, ArrayRef<Operation *> operators) {
  Operation *last = nullptr;
  unsigned highest = 0;
  for (Operation &inner : dispatch.getBody().front())
    if (auto number = dyn_cast<FileLineColLoc>(inner.getLoc());
        number && isComputeOp(&inner) && (!last || number.getLine() > highest)) {
      highest = number.getLine();
      last = operators[highest];
    }
  if (!last || last->getNumResults() != 1 || !isComputeOp(last) ||
      cast<ShapedType>(last->getResult(0).getType()).getShape() !=
          cast<ShapedType>(dispatch.getResult().getType()).getShape())
    return nullptr;
  return last;
}

void addUnique(std::vector<uint32_t> &list, uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end())
    list.push_back(value);
}

/// Fills in the tensors, the storages and their lifetimes from the graph and the order.
void describe(MemoryTrial &trial, const DispatchGraph &graph, ArrayRef<Operation *> operators) {
  const plan::OrderProblem &problem = graph.problem;
  const auto count = static_cast<uint32_t>(graph.dispatches.size());
  trial.tensors.resize(count);
  std::vector<uint32_t> position(count);
  for (uint32_t at = 0; at < count; ++at)
    position[trial.order[at]] = at;
  std::vector<bool> placed(count);
  for (const plan::OrderProblem::Storage &shared : problem.storages) {
    for (uint32_t value : shared.values) {
      trial.tensors[value].storage = trial.storages.size();
      placed[value] = true;
    }
    trial.storages.push_back({shared.sizeBytes, shared.values, false});
  }
  for (uint32_t i = 0; i < count; ++i) {
    StoredTensor &tensor = trial.tensors[i];
    DispatchOp dispatch = graph.dispatches[i];
    tensor.op = storedOperator(dispatch, operators);
    trial.copies += dispatch.getCopyReason() ? 1 : 0;
    trial.maxBuffers =
        std::max(trial.maxBuffers, static_cast<unsigned>(dispatch.getInputs().size()) + 1);
    tensor.isReturned = problem.values[i].kept;
    if (!placed[i]) {
      tensor.storage = trial.storages.size();
      trial.storages.push_back({problem.values[i].sizeBytes, {i}, problem.values[i].mayLeave});
    }
    for (uint32_t read : problem.operators[i].reads) {
      addUnique(tensor.reads, read);
      addUnique(trial.tensors[read].readers, i);
    }
  }
  for (TensorStorage &storage : trial.storages) {
    storage.first = count;
    for (uint32_t i : storage.tensors) {
      storage.first = std::min(storage.first, position[i]);
      storage.last = std::max(storage.last, position[i]);
      for (uint32_t reader : trial.tensors[i].readers)
        storage.last = std::max(storage.last, position[reader]);
    }
  }
}

/// Orders the dispatches, and computes the live and the needed bytes at each position of the order.
/// `problem`: the graph whose bytes are computed. `forOrder`: the same graph, with the sizes by
/// which the pass order-dispatches chooses the order. keepOrder: the dispatches keep their order.
/// Returns false if the planner fails.
bool measure(MemoryTrial &trial, const plan::OrderProblem &problem,
             const plan::OrderProblem &forOrder, bool keepOrder) {
  const size_t count = problem.operators.size();
  trial.order.resize(count);
  std::iota(trial.order.begin(), trial.order.end(), 0);
  if (!keepOrder) {
    Result<plan::Order> found = plan::searchOrder(forOrder);
    if (!found.isOk())
      return false;
    if (found->peakBytes < found->givenPeakBytes)
      trial.order = found->operators;
  }
  plan::BudgetProblem ordered{problem, std::vector<double>(count, -1)};
  for (size_t at = 0; at < count; ++at)
    ordered.graph.operators[at] = problem.operators[trial.order[at]];
  Result<plan::BudgetPlan> bytes = plan::fitBudget(ordered, 0);
  if (!bytes.isOk())
    return false;
  trial.liveBytes = std::move(bytes->givenBytes);
  trial.neededBytes = std::move(bytes->minBytes);
  trial.peakBytes = bytes->givenPeakBytes;
  trial.neededPeak = bytes->minPeakBytes;
  return true;
}

} // namespace

std::optional<MemoryTrial> tryMemory(func::FuncOp function, OpPassManager passes, bool keepOrder,
                                     SharedStorage shared, bool inBudget) {
  MLIRContext *context = function.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  auto clone = cast<func::FuncOp>(function->clone());
  module->push_back(clone);
  SmallVector<Operation *> operators;
  for (auto [original, copy] :
       llvm::zip_equal(function.getBody().front(), clone.getBody().front())) {
    copy.setLoc(numberLocation(context, operators.size()));
    operators.push_back(&original);
  }
  PassManager manager(context);
  manager.enableVerifier(false);
  manager.nest<func::FuncOp>() = std::move(passes);
  ScopedDiagnosticHandler silent(context, [](Diagnostic &) { return success(); });
  if (failed(manager.run(*module)))
    return std::nullopt;
  const DispatchGraph graph = dispatchGraphOf(clone, shared);
  MemoryTrial trial;
  if (!measure(trial, graph.problem,
               inBudget ? dispatchGraphOf(clone, SharedStorage::kWhole).problem : graph.problem,
               keepOrder))
    return std::nullopt;
  describe(trial, graph, operators);
  return trial;
}

} // namespace gantry::codegen

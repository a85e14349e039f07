// strips: see Passes.td. strip_search.h finds the chains, memory_trial.h measures what they achieve
// and strip_rows.h builds the strips; this file decides which of them are kept.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/dispatch_graph.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/strips/strip_search.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassRegistry.h"

#include <map>
#include <memory>

namespace gantry::codegen {

#define GEN_PASS_DEF_STRIPS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr size_t kMaxChains = 16; // Chains of a function.
// Plans that are measured before the search gives up, without and within a budget.
constexpr size_t kFreePlans = 3, kBudgetPlans = 12;

// Without a budget, strips must pay off for any user.
constexpr double kFreeShare = 0.02; // Limit on the cost, as a share of the model's arithmetic.
constexpr double kFreeGain = 0.05;  // Each chain lowers the peak by at least this share.

// Within a budget, strips are tried before tensors are computed again or moved to the host. If the
// operators with the largest operands do not fit, there is no other way, so strips may cost more.
constexpr double kBudgetShare = 0.25, kNeededShare = 4;
constexpr double kBudgetDispatches = 24, kNeededDispatches = 128; // Additional dispatches.
// Chains that are added together lower the peak by at least this share.
constexpr double kBudgetGain = 0.03;
// The search for the lowest peak runs once for each of these targets, which are shares of the peak
// without strips. A chain is good enough if its strips reach the target. With the smallest target
// alone, the first chains use so many strips that the limit on added dispatches stops the search.
constexpr double kTargets[] = {1.0 / 16, 1.0 / 4, 3.0 / 8};

/// Returns the operator's name in the model, or else the name of its result; may be empty.
std::string nameOf(Operation *op) {
  std::string name = operatorName(op);
  if (StringAttr tensor = tensorName(op); tensor && name.empty())
    name = tensor.getValue().str();
  return name;
}

/// The function with some chains computed in strips.
struct State {
  OwningOpRef<func::FuncOp> function; // A clone of the pass's function, without a parent.
  MemoryTrial memory = {};            // Refers to the operators of `function`.
  llvm::SmallVector<StripChainAttr> chains = {};
  double cost = 0; // The cost of all plans.
  // The measured states that have one chain more; nullptr if the chain cannot be computed in
  // strips. The key has the chain's members, the divided dimension and the rows of a strip. States
  // are kept because a measurement takes long, and the searches for different targets try the same
  // plans.
  using PlanKey = std::tuple<std::vector<Operation *>, unsigned, int64_t>;
  std::map<PlanKey, std::shared_ptr<State>> measured = {};
};
using StatePtr = std::shared_ptr<State>;

struct StripsPass : impl::StripsBase<StripsPass> {
  using StripsBase::StripsBase;

  LogicalResult initialize(MLIRContext *) override {
    FailureOr<OpPassManager> parsed = parsePassPipeline(passes);
    if (failed(parsed))
      return failure();
    trialPasses_ = std::move(*parsed);
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::all_of(function.getArgumentTypes(), [](Type type) {
          return cast<ShapedType>(type).hasStaticShape();
        }))
      return;
    modelOperations_ = 0;
    for (Operation &op : function.getBody().front())
      modelOperations_ += operationsOf(&op);
    StripGoal goal;
    goal.maxCost = kFreeShare * modelOperations_;
    goal.dispatchCost = dispatchCost;
    goal.minRows = minRows;
    goal.minStripElements = minElements;
    // Two strips of two tensors add two dispatches.
    const bool mayBeFree = goal.maxCost >= 2 * dispatchCost;
    if (!mayBeFree && budgetBytes == 0)
      return;
    shared_ = budgetBytes > 0 ? SharedStorage::kWhole : SharedStorage::kInParts;
    StatePtr best = search(function, goal, mayBeFree);
    if (budgetBytes > 0 && best->memory.neededPeak > budgetBytes) {
      shared_ = SharedStorage::kInParts;
      if (StatePtr inParts = search(function, goal, mayBeFree);
          double(inParts->memory.neededPeak) <= kWorthwhileParts * double(best->memory.neededPeak))
        best = std::move(inParts);
    }
    if (best->chains.empty())
      return;
    function.getBody().takeBody(best->function->getBody());
    setAttribute(function, StripsAttr::get(&getContext(), best->chains,
                                           static_cast<int64_t>(modelOperations_)));
  }

private:
  /// Returns the function with the strips that pay off even without a budget (if `mayBeFree` is
  /// set, with the goal `free`), and then with those that the budget needs.
  StatePtr search(func::FuncOp function, const StripGoal &free, bool mayBeFree) {
    StatePtr state = std::make_shared<State>(cast<func::FuncOp>(function->clone()));
    if (!measure(*state))
      return state;
    if (mayBeFree && state->memory.peakBytes >= minBytes)
      if (StatePtr found = improve(state, free, kFreeGain))
        state = std::move(found);
    return budgetBytes > 0 ? fitBudget(state) : state;
  }

  /// Lowers the peak to the budget, or at least the working set of the largest operators, which
  /// fit-budget cannot lower. A larger budget must never be harder to meet. Searches for the lowest
  /// peak, which do not depend on the budget, therefore decide whether it can be met. If it can, a
  /// search that stops at the budget finds cheaper strips.
  StatePtr fitBudget(const StatePtr &state) {
    StatePtr lowest;
    for (const double share : kTargets) {
      StatePtr found = lower(state, static_cast<uint64_t>(share * double(state->memory.peakBytes)));
      if (found && (!lowest || found->memory.neededPeak < lowest->memory.neededPeak))
        lowest = std::move(found);
    }
    if (!lowest)
      return state;
    StatePtr found;
    if (lowest->memory.neededPeak <= budgetBytes)
      found = lower(state, budgetBytes);
    return found && found->memory.neededPeak <= budgetBytes ? found : lowest;
  }

  /// Lowers the peak as far as this is cheap, and then the working set of the largest operators,
  /// until the budget is met. `target`: StripGoal::targetBytes. nullptr if no chain is found.
  StatePtr lower(const StatePtr &from, uint64_t target) {
    StripGoal goal;
    goal.mayRepeat = true;
    goal.targetBytes = target;
    goal.dispatchCost = dispatchCost;
    goal.maxCost = kBudgetShare * modelOperations_ + kBudgetDispatches * dispatchCost;
    StatePtr cheap = improve(from, goal, kBudgetGain);
    goal.needed = true;
    goal.maxCost = kNeededShare * modelOperations_ + kNeededDispatches * dispatchCost;
    StatePtr smallest = improve(cheap ? cheap : from, goal, kBudgetGain);
    return smallest ? smallest : cheap;
  }

  bool measure(State &state) {
    std::optional<MemoryTrial> memory =
        tryMemory(*state.function, trialPasses_, keepOrder, shared_, budgetBytes > 0);
    if (memory)
      state.memory = std::move(*memory);
    return memory.has_value();
  }

  /// Computes chains in strips until the goal's peak is within the budget, or cannot be lowered by
  /// the share `gain`. Several dispatches may reach the peak, so one chain may not lower it: chains
  /// are added until the peak falls by the share `gain`, and are dropped together if it does not.
  /// Without a budget, n chains must lower the peak by n times this share. nullptr if no chain is
  /// kept.
  StatePtr improve(const StatePtr &start, StripGoal goal, double gain) {
    const double limit = goal.maxCost;
    StatePtr kept;
    while (true) {
      const State &from = kept ? *kept : *start;
      if (from.memory.peak(goal.needed) <= budgetBytes)
        return kept;
      goal.maxPeak = double(from.memory.peak(goal.needed)) * (1 - gain);
      StatePtr next;
      do {
        const StatePtr last = next ? next : kept ? kept : start;
        goal.maxCost = limit - last->cost;
        next = last->chains.size() < kMaxChains ? step(*last, goal) : nullptr;
      } while (next && double(next->memory.peak(goal.needed)) > goal.maxPeak);
      const auto isWorthwhile = [&] {
        const double chains = double(next->chains.size() - from.chains.size());
        return goal.mayRepeat || double(next->memory.peak(goal.needed)) <=
                                     double(from.memory.peak(goal.needed)) * (1 - gain * chains);
      };
      if (!next || !isWorthwhile())
        return kept;
      kept = std::move(next);
    }
  }

  /// Computes one more chain in strips, such that fewer dispatches exceed the goal's limit. Without
  /// a budget, no tensor may be copied for the strips, because StripPlan::cost does not count
  /// copies.
  StatePtr step(State &from, const StripGoal &goal) {
    std::vector<StripPlan> plans = findStripPlans(from.memory, goal);
    const size_t limit = goal.mayRepeat ? kBudgetPlans : kFreePlans;
    if (plans.size() > limit)
      plans.resize(limit);
    for (const StripPlan &plan : plans) {
      StatePtr next = apply(plan, from);
      if (next &&
          next->memory.maxBuffers <= std::max<unsigned>(maxBuffers, from.memory.maxBuffers) &&
          (goal.mayRepeat || next->memory.copies <= from.memory.copies) &&
          next->memory.peak(goal.needed) <= from.memory.peak(goal.needed) &&
          next->memory.countAbove(goal.needed, goal.maxPeak) <
              from.memory.countAbove(goal.needed, goal.maxPeak))
        return next;
    }
    return nullptr;
  }

  /// Returns the state in which the plan's chain is computed in strips. nullptr if that is not
  /// possible.
  StatePtr apply(const StripPlan &plan, State &from) {
    const auto [at, added] =
        from.measured.try_emplace({{plan.chain.members.begin(), plan.chain.members.end()},
                                   plan.strips.dim,
                                   plan.strips.rows});
    if (added)
      at->second = measureWith(plan, from);
    return at->second;
  }

  StatePtr measureWith(const StripPlan &plan, const State &from) {
    for (int64_t i = 0; i < plan.strips.count(); ++i)
      if (!rowsOfStrip(plan.chain, plan.strips.at(i)))
        return nullptr;
    IRMapping mapping;
    StatePtr next =
        std::make_shared<State>(cast<func::FuncOp>(from.function.get()->clone(mapping)));
    Chain chain;
    for (Operation *member : plan.chain.members)
      chain.members.insert(mapping.lookup(member));
    computeInStrips(chain, plan.strips);
    if (!measure(*next))
      return nullptr;
    // The report names the chain's first linalg.generic, not the pads and slices before it.
    const auto computes = llvm::find_if(plan.chain.members, llvm::IsaPred<linalg::GenericOp>);
    Operation *first = computes == plan.chain.members.end() ? plan.chain.last() : *computes;
    next->cost = from.cost + plan.cost;
    next->chains = from.chains;
    next->chains.push_back(StripChainAttr::get(
        &getContext(), StringAttr::get(&getContext(), nameOf(first)),
        StringAttr::get(&getContext(), nameOf(plan.chain.last())), plan.strips.count(),
        static_cast<int64_t>(from.memory.peakBytes) - static_cast<int64_t>(next->memory.peakBytes),
        static_cast<int64_t>(plan.operations)));
    return next;
  }

  OpPassManager trialPasses_;
  SharedStorage shared_ = SharedStorage::kInParts;
  double modelOperations_ = 0; // Arithmetic operations of the function without strips.
};

} // namespace
} // namespace gantry::codegen

// Implements the pass `strips` (Passes.td), which computes chains of operators in strips of rows,
// so that large tensors inside of a chain never exist whole. strip_search.h finds the chains,
// memory_trial.h measures how much memory they save, and strip_rows.h builds the strips. This file
// decides which chains are computed in strips.
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

constexpr size_t kMaxChains = 16; // The largest number of chains in a function.
// The number of plans (StripPlan) that are measured for the next chain before the search gives up:
// without a budget, and with a budget. A budget is a limit of the arena that the user has set.
constexpr size_t kFreePlans = 3, kBudgetPlans = 12;

// Limits without a budget. The user has not asked for less memory, so strips must cost little.
constexpr double kFreeShare = 0.02; // Limit on the cost, as a share of the model's arithmetic.
constexpr double kFreeGain = 0.05;  // Each chain lowers the peak by at least this share.

// Limits with a budget. The limit on the cost is a share of the model's arithmetic plus the cost of
// a number of additional dispatches (kernel launches). The limits kBudget… apply while the live
// bytes are lowered; the pass fit-budget can lower these too, by computing tensors again or moving
// them to the host. The limits kNeeded… apply while the needed bytes (memory_trial.h) are lowered.
// They are higher, because no other pass can lower the needed bytes.
constexpr double kBudgetShare = 0.25, kNeededShare = 4;
constexpr double kBudgetDispatches = 24, kNeededDispatches = 128;
// The chains that improve() adds and keeps together lower the peak by at least this share.
constexpr double kBudgetGain = 0.03;
// With a budget, the search for the lowest peak runs once for each of these targets, which are
// shares of the peak without strips. A chain is good enough if its strips reach the target. With
// the smallest target alone, the first chains would use so many strips that the limit on added
// dispatches would stop the search early.
constexpr double kTargets[] = {1.0 / 16, 1.0 / 4, 3.0 / 8};

/// Returns the operator's name in the model, or else the name of its result; may be empty.
std::string nameOf(Operation *op) {
  std::string name = operatorName(op);
  if (StringAttr tensor = tensorName(op); tensor && name.empty())
    name = tensor.getValue().str();
  return name;
}

/// A version of the function in which some chains are computed in strips.
struct State {
  OwningOpRef<func::FuncOp> function; // A clone of the pass's function, without a parent.
  MemoryTrial memory = {};            // Refers to the operators of `function`.
  llvm::SmallVector<StripChainAttr> chains = {};
  double cost = 0; // The sum of StripPlan::cost over all chains.
  // The measured states that have one chain more than this one; nullptr if the chain cannot be
  // computed in strips. The key has the chain's members, the divided dimension and the number of
  // rows of a strip. States are kept because a measurement takes long, and the searches for
  // different targets (kTargets) try the same plans.
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
    // The cheapest plan, two strips of a chain of two tensors, adds two dispatches.
    const bool mayBeFree = goal.maxCost >= 2 * dispatchCost;
    if (!mayBeFree && budgetBytes == 0)
      return;
    shared_ = budgetBytes > 0 ? SharedStorage::kWhole : SharedStorage::kInParts;
    StatePtr best = search(function, goal, mayBeFree);
    if (!best)
      return;
    if (budgetBytes > 0 && best->memory.neededPeak > budgetBytes) {
      shared_ = SharedStorage::kInParts;
      if (StatePtr inParts = search(function, goal, mayBeFree);
          inParts &&
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
  /// Returns the function with strips. If `mayBeFree` is set, it first adds the strips that are
  /// worth their cost without a budget, with the goal `free`. If there is a budget, it then adds
  /// the strips that lower the peak to the budget. Returns null if the function cannot be measured.
  StatePtr search(func::FuncOp function, const StripGoal &free, bool mayBeFree) {
    StatePtr state = std::make_shared<State>(cast<func::FuncOp>(function->clone()));
    if (!measure(*state))
      return nullptr;
    if (mayBeFree && state->memory.peakBytes >= minBytes)
      if (StatePtr found = improve(state, free, kFreeGain))
        state = std::move(found);
    return budgetBytes > 0 ? fitBudget(state) : state;
  }

  /// Adds chains until the needed bytes (memory_trial.h), which the pass fit-budget cannot lower,
  /// are within the budget, or as low as possible. A larger budget must never be harder to meet.
  /// Searches for the lowest peak, which do not depend on the budget, therefore decide whether the
  /// budget can be met. If it can, a search that stops at the budget finds cheaper strips.
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

  /// Lowers the peak of live bytes as far as this is cheap, and then the peak of needed bytes
  /// (memory_trial.h). Each step stops when its peak is within the budget. `target`:
  /// StripGoal::targetBytes. nullptr if no chain is found.
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

  /// Sets state.memory. Returns false if a pass of the trial fails.
  bool measure(State &state) {
    std::optional<MemoryTrial> memory =
        tryMemory(*state.function, trialPasses_, keepOrder, shared_, budgetBytes > 0);
    if (memory)
      state.memory = std::move(*memory);
    return memory.has_value();
  }

  /// Computes chains in strips until the peak (of needed bytes if goal.needed, otherwise of live
  /// bytes) is within the budget, or cannot be lowered by the share `gain` any more. Several
  /// dispatches may reach the peak, so one chain alone may not lower it. Chains are therefore added
  /// until the peak has fallen by the share `gain`; if that fails, all of them are dropped
  /// together. Without a budget, n chains must lower the peak by n times this share. nullptr if no
  /// chain is kept.
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

  /// Computes one more chain in strips, such that fewer dispatches run while the bytes exceed
  /// goal.maxPeak. Without a budget, no tensor may be copied for the strips, because
  /// StripPlan::cost does not count copies. nullptr if none of the first plans achieves this.
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

  /// Implements apply() for a plan that has not been measured yet.
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
    // The attribute `gantry.strips`, which reports the chain to the user, names the chain's first
    // linalg.generic, not the pads and slices before it.
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
  double modelOperations_ =
      0; // The number of arithmetic operations of the function without strips.
};

} // namespace
} // namespace gantry::codegen

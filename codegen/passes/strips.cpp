// strips: see Passes.td. strip_search.h finds the chains, memory_trial.h measures what they achieve
// and strip_rows.h builds the strips; this file decides which of them are kept.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/strip_search.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassRegistry.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_STRIPS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr size_t kPlansPerRound = 3; // Plans that are measured before the search gives up.

// Without a budget, strips must pay off for any user.
constexpr double kFreeShare = 0.02; // Additional arithmetic, as a share of the model's.
constexpr double kFreeGain = 0.05;           // Each chain lowers the peak by at least this share.
constexpr int64_t kFreeRows = 8;             // Rows of a strip.
constexpr int64_t kFreeElements = 16 * 1024; // Elements of a strip of any tensor.

// Within a budget, strips are tried before tensors are computed again or moved to the host. If the
// operators with the largest operands do not fit, there is no other way, so strips may cost more.
constexpr double kBudgetShare = 0.25, kNeededShare = 8;
constexpr double kBudgetGain = 0.01;

/// Returns the operator's name in the model, or else the name of its result; may be empty.
std::string nameOf(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    return WalkResult::advance();
  });
  if (StringAttr tensor = tensorName(op); tensor && name.empty())
    name = tensor.getValue().str();
  return name;
}

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
    chains_.clear();
    modelOperations_ = cost_ = 0;
    std::optional<MemoryTrial> now = tryMemory(function, trialPasses_, keepOrder);
    if (!now)
      return;
    for (Operation &op : function.getBody().front())
      modelOperations_ += operationsOf(&op);
    StripGoal goal;
    goal.maxCost = kFreeShare * modelOperations_;
    goal.dispatchCost = dispatchCost;
    goal.minRows = minRows;
    goal.minStripElements = minElements;
    if (now->peakBytes >= minBytes)
      improve(*now, goal, kFreeGain, 0);
    if (budgetBytes > 0) {
      goal = StripGoal();
      goal.mayRepeat = true;
      goal.maxCost = kBudgetShare * modelOperations_;
      improve(*now, goal, kBudgetGain, budgetBytes);
      goal.needed = true;
      goal.maxCost = kNeededShare * modelOperations_;
      improve(*now, goal, kBudgetGain, budgetBytes);
    }
    if (!chains_.empty())
      setAttribute(function,
                   StripsAttr::get(&getContext(), chains_, static_cast<int64_t>(modelOperations_)));
  }

  /// Computes chains in strips until the goal's peak is at most `target` bytes, or no plan lowers
  /// it by the share `gain`. `now` is the state of the function.
  void improve(MemoryTrial &now, StripGoal goal, double gain, uint64_t target) {
    const auto peakOf = [&](const MemoryTrial &trial) {
      return goal.needed ? trial.neededPeak : trial.peakBytes;
    };
    const double limit = goal.maxCost;
    for (bool isImproved = true; isImproved && peakOf(now) > target;) {
      isImproved = false;
      goal.maxPeak = double(peakOf(now)) * (1 - gain);
      goal.maxCost = limit - cost_;
      std::vector<StripPlan> plans = findStripPlans(now, goal);
      if (plans.size() > kPlansPerRound)
        plans.resize(kPlansPerRound);
      for (const StripPlan &plan : plans) {
        OwningOpRef<func::FuncOp> changed = apply(plan);
        auto trial = changed ? tryMemory(*changed, trialPasses_, keepOrder) : std::nullopt;
        if (!trial || double(peakOf(*trial)) > goal.maxPeak)
          continue;
        keep(plan, now.peakBytes, trial->peakBytes);
        getOperation().getBody().takeBody(changed->getBody());
        now = std::move(*trial);
        isImproved = true;
        break;
      }
    }
  }

  /// Returns a clone of the function in which the plan's chain is computed in strips; null if that
  /// is not possible.
  OwningOpRef<func::FuncOp> apply(const StripPlan &plan) {
    for (int64_t i = 0; i < plan.strips.count(); ++i)
      if (!rowsOfStrip(plan.chain, plan.strips.at(i)))
        return {};
    IRMapping mapping;
    OwningOpRef<func::FuncOp> clone = cast<func::FuncOp>(getOperation()->clone(mapping));
    Chain chain;
    for (Operation *member : plan.chain.members)
      chain.members.insert(mapping.lookup(member));
    computeInStrips(chain, plan.strips);
    return clone;
  }

  /// Records a plan that is kept.
  void keep(const StripPlan &plan, uint64_t before, uint64_t after) {
    cost_ += plan.cost;
    chains_.push_back(StripChainAttr::get(
        &getContext(), StringAttr::get(&getContext(), nameOf(plan.first)),
        StringAttr::get(&getContext(), nameOf(plan.chain.last())), plan.strips.count(),
        static_cast<int64_t>(before) - static_cast<int64_t>(after),
        static_cast<int64_t>(plan.operations)));
  }

  OpPassManager trialPasses_;
  double modelOperations_ = 0; // Arithmetic operations of the function without strips.
  double cost_ = 0;            // The cost of the plans that are kept.
  llvm::SmallVector<StripChainAttr> chains_;
};

} // namespace
} // namespace gantry::codegen

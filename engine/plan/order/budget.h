// Fits a fixed order of operators into a memory budget: chooses which values leave the device for a
// while, and how each of them comes back.
//
// A gap is the time between two consecutive uses of a value. During a gap the value need not be in
// device memory. A storage of several values (order.h), or a value that may not leave, has no gaps.
// The value returns before the next use in one of two ways. Recomputation: its operator runs again,
// if that operator's operands are in memory then. Move: the value is copied to the host after the
// use before the gap, and back before the use after the gap. Both cost time. Neither raises the
// bytes that are alive at any operator: the value is an operand of the operator after the gap, and
// a recomputation reads only operands that are alive at that operator anyway.
//
// Algorithm: a covering problem. Each position of the order whose live bytes exceed the budget must
// lose some bytes, and each gap removes its value's bytes from the positions inside the gap. Gaps
// are chosen greedily: next comes the gap that removes the most bytes above the budget, summed over
// the positions, per cost. Then choices that have become unnecessary are undone, the most expensive
// first. Every budget of at least BudgetPlan::minPeakBytes is met. Deterministic.
//
// Threads: pure functions. Units: bytes; costs are in a unit of the caller's choice.
#pragma once

#include "engine/plan/order/order.h"

namespace gantry::plan {

struct BudgetProblem {
  OrderProblem graph; // The operators run in the given order.
  /// Per operator, the cost of running it again; negative where it must not run again.
  std::vector<double> recomputeCost;
  double hostByteCost = 1; // The cost of moving one byte to the host or back.
};

struct BudgetAction {
  enum class Kind : uint8_t { kRecompute, kMove };
  Kind kind = Kind::kRecompute;
  uint32_t value = 0;
  uint32_t after = 0;  // The operator that uses the value last before the gap.
  uint32_t before = 0; // The operator that uses the value first after the gap.
  bool store = false;  // For kMove: the value is not on the host yet and must be written to it.
  double cost = 0;
};

struct BudgetPlan {
  std::vector<BudgetAction> actions; // By `before`, then by value.
  uint64_t givenPeakBytes = 0;       // The peak without any action.
  uint64_t recomputedPeakBytes = 0;  // The peak with the recomputations only.
  uint64_t peakBytes = 0;            // The peak with all actions.
  /// The peak if every value left the device during all of its gaps: the smallest possible budget.
  uint64_t minPeakBytes = 0;
  uint32_t minPeakAt = 0; // The first operator with that peak.
  /// Per operator, the bytes alive while it runs: without any action, and if every value left the
  /// device during all of its gaps.
  std::vector<uint64_t> givenBytes, minBytes;
  bool fits = false;
};

/// Chooses actions that lower the peak to the budget. If the budget is below minPeakBytes, `fits`
/// is false and there are no actions. Returns kInvalidArgument for an invalid graph
/// (checkOrderProblem()), or if recomputeCost does not have one entry per operator.
Result<BudgetPlan> fitBudget(const BudgetProblem &problem, uint64_t budgetBytes);

} // namespace gantry::plan

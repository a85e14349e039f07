// Fits a fixed order of operators into a memory budget: chooses which values leave the device for a
// while, and how each of them comes back.
//
// A gap is the stretch between two uses of a value. During a gap the value need not lie in memory.
// It comes back before its next use in one of two ways: it is computed again, if the operands of
// its operator are in memory then; or it is moved to the host after its last use and back before
// its next one. Both cost time. Neither raises the bytes that any operator needs, because a value
// that comes back is an operand of the next operator.
//
// Algorithm: a covering problem. Each position needs some bytes to leave, and each gap removes its
// value's bytes from the positions inside it. Gaps are chosen greedily by useful bytes per cost;
// then choices that have become unnecessary are undone, the most expensive first. Every budget from
// the largest operator's own need on is met. Deterministic.
//
// Threads: pure functions. Units: bytes; costs are in a unit of the caller's choice.
#pragma once

#include "engine/plan/order/order.h"

namespace gantry::plan {

struct BudgetProblem {
  OrderProblem graph; // The operators run in the given order.
  /// Per operator, the cost of running it again; negative where it must not run again.
  std::vector<double> recomputeCost;
  double hostByteCost = 1; // The cost of moving one byte in either direction.
};

struct BudgetAction {
  enum class Kind : uint8_t { kRecompute, kMove };
  Kind kind = Kind::kRecompute;
  uint32_t value = 0;
  uint32_t after = 0;  // The operator that uses the value last before the gap.
  uint32_t before = 0; // The operator that uses it next.
  bool store = false;  // For kMove: the value is not on the host yet and must be written to it.
  double cost = 0;
};

struct BudgetPlan {
  std::vector<BudgetAction> actions; // By `before`, then by value.
  uint64_t givenPeakBytes = 0;       // The peak without any action.
  uint64_t recomputedPeakBytes = 0;  // The peak with the recomputations only.
  uint64_t peakBytes = 0;            // The peak with all actions.
  uint64_t minPeakBytes = 0; // The largest operator's own need: the smallest possible budget.
  uint32_t minPeakAt = 0;    // Operator that has it.
  bool fits = false;
};

/// Fails with kInvalidArgument as checkOrderProblem does, or where recomputeCost has not one entry
/// per operator. Where the budget is below minPeakBytes, fits is false and there are no actions.
Result<BudgetPlan> fitBudget(const BudgetProblem &problem, uint64_t budgetBytes);

} // namespace gantry::plan

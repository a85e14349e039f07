// Fitting a fixed order of operators into a memory budget: which values leave the device for a
// while, and how each comes back.
//
// A value that is alive but not used by the operators of a stretch (a gap between two of its uses)
// need not lie in memory meanwhile. It comes back before its next use in one of two ways: it is
// computed again, where its operator's operands are there anyway; or it is moved to the host after
// its last use and back before its next. Both cost time. Neither raises any operator's own need:
// what is brought back is needed by the operator that follows at once.
//
// Algorithm: a covering problem (each position needs some bytes gone, each gap takes its value's
// bytes away from the positions inside it), solved greedily by the bytes that help per cost, and
// cleaned up from the dearest on. Every budget down to the largest single operator's need is met.
// Deterministic.
//
// Threads: pure functions. Units: bytes; costs are of the caller's unit.
#pragma once

#include "engine/plan/order.h"

namespace gantry::plan {

struct BudgetProblem {
  OrderProblem graph; // operators in the order in which they run
  /// Per operator: what computing it once more costs; negative: it must not be.
  std::vector<double> recomputeCost;
  double hostByteCost = 1; // of moving one byte, either way
};

struct BudgetAction {
  enum class Kind : uint8_t { kRecompute, kMove };
  Kind kind = Kind::kRecompute;
  uint32_t value = 0;
  uint32_t after = 0;  // the operator of its last use before the gap
  uint32_t before = 0; // the operator of its next use
  bool store = false;  // kMove: it is not on the host yet
  double cost = 0;
};

struct BudgetPlan {
  std::vector<BudgetAction> actions; // by `before`, then by value
  uint64_t givenPeakBytes = 0;       // without them
  uint64_t recomputedPeakBytes = 0;  // with those alone that compute again
  uint64_t peakBytes = 0;            // with all
  uint64_t leastPeakBytes = 0; // the largest single operator's need: no budget below can be met
  uint32_t leastAt = 0;        // that operator
  bool fits = false;
};

/// Fails with kInvalidArgument as searchOrder does. Where the budget is below leastPeakBytes, fits
/// is false and there are no actions.
Result<BudgetPlan> fitBudget(const BudgetProblem &problem, uint64_t budgetBytes);

} // namespace gantry::plan

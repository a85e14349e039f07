// Finds the chains of operators whose computation in strips would lower a program's peak of live
// bytes, for the pass `strips`.
//
// The search begins with the largest tensors that are alive at the peak. It follows the operators
// that read such a tensor to possible ends of a chain, and from each end goes back over the
// operators that only the chain reads. It predicts the peak and the additional arithmetic of each
// chain for several numbers of strips. The prediction is an estimate; the pass measures the best
// plans (memory_trial.h).
//
// Thread safety: pure functions.
#pragma once

#include "codegen/passes/strips/memory_trial.h"
#include "codegen/passes/strips/strip_rows.h"

namespace gantry::codegen {

/// The aim of a plan, and the limits on its cost.
struct StripGoal {
  /// Lowers MemoryTrial::neededPeak instead of peakBytes.
  bool needed = false;
  /// A member may have readers outside of the chain; it is then computed both whole and in strips.
  bool mayRepeat = false;
  double maxCost = 0;      // Limit on StripPlan::cost.
  double dispatchCost = 0; // The cost of an additional dispatch, in arithmetic operations.
  double maxPeak = 0;      // Limit on the bytes while a dispatch of the chain runs.
  /// The peak to reach in bytes: a plan with a lower peak is no better. If it is 0, the peak of a
  /// plan is that of the whole program. Otherwise it is the peak within the plan's chain, because
  /// later chains may lower the peak elsewhere.
  uint64_t targetBytes = 0;
  int64_t minRows = 1;          // Limit on the rows of a strip.
  int64_t minStripElements = 0; // Limit on the elements of a strip of any stored tensor.
};

/// A chain, a number of strips, and what they are predicted to achieve.
struct StripPlan {
  Chain chain;
  Strips strips;
  uint64_t peakBytes = 0; // The predicted peak, or the goal's target if that is higher.
  double operations = 0;  // Additional arithmetic operations.
  double cost = 0;        // The additional operations plus the cost of additional dispatches.
};

/// Returns the plans that meet the goal. The first has the lowest predicted peak; where peaks are
/// almost equal, the one with the lowest cost comes first.
std::vector<StripPlan> findStripPlans(const MemoryTrial &trial, const StripGoal &goal);

} // namespace gantry::codegen

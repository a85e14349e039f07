// Finds the chains of operators whose computation in strips would lower a program's peak of live
// bytes, for the pass `strips`. A strip is a range of rows of a tensor: the operators of a chain
// are computed one strip after the other, so that the tensors inside of the chain never exist whole
// (strip_rows.h).
//
// A tensor is alive from the dispatch (kernel launch) that computes it to the last dispatch that
// reads it. The peak is the largest sum of bytes that are alive, or needed (memory_trial.h), while
// one dispatch runs. The search begins with the largest tensors that are alive at the peak. From
// such a tensor it follows readers forwards to possible ends of a chain. From each end it goes
// backwards over the operators whose results only the chain reads (with StripGoal::mayRepeat, over
// any operators whose results it reads). It predicts the peak and the additional arithmetic of each
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
  /// Whether to lower MemoryTrial::neededPeak (the smallest budget that can be met) instead of
  /// MemoryTrial::peakBytes (the peak of live bytes).
  bool needed = false;
  /// Whether a chain may contain an operator whose result is also read outside of the chain. This
  /// operator is then computed both whole and in strips.
  bool mayRepeat = false;
  double maxCost = 0;      // Upper limit on StripPlan::cost.
  double dispatchCost = 0; // The cost of an additional dispatch, in arithmetic operations.
  /// Upper limit on the live bytes (on the needed bytes if `needed` is set) while a dispatch of the
  /// chain runs.
  double maxPeak = 0;
  /// The peak to reach, in bytes: a plan with a lower peak is no better. If targetBytes is 0,
  /// StripPlan::peakBytes is the peak of the whole program. Otherwise it is the peak while the
  /// chain runs: the pass repeats the search, and the chains that it finds then may lower the peak
  /// elsewhere.
  uint64_t targetBytes = 0;
  int64_t minRows = 1;          // The smallest number of rows of a strip.
  int64_t minStripElements = 0; // The smallest number of elements of a strip of a StoredTensor.
};

/// A chain, a number of strips, and what they are predicted to achieve.
struct StripPlan {
  Chain chain;
  Strips strips;
  uint64_t peakBytes = 0; // The predicted peak, or StripGoal::targetBytes if that is higher.
  double operations = 0;  // Additional arithmetic operations.
  double cost = 0;        // The additional operations plus the cost of additional dispatches.
};

/// Returns the plans within the limits of the goal. The first has the lowest predicted peak; where
/// peaks are almost equal, the one with the lowest cost comes first.
std::vector<StripPlan> findStripPlans(const MemoryTrial &trial, const StripGoal &goal);

} // namespace gantry::codegen

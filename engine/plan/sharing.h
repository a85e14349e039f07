// Chooses which values share storage in place, jointly with where everything lies.
//
// Making a sharing lowers the sum of what is alive, but ties two values to one offset, which can
// make the packing worse. Up to kExhaustiveSharings optional ones are decided exactly: every set of
// them is bounded, and packed where its bound is below the best plan. With more of them, three sets
// are packed: none, all that fit together, and the best that is found by leaving out one after
// another. The result is never worse than that of a request without them.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/descent.h"
#include "engine/plan/problem_builder.h"

namespace gantry::plan {

inline constexpr size_t kExhaustiveSharings = 12;

struct SharedSolution {
  BuiltProblem built;
  Optimum optimum;         // its bound holds for every choice of sharings
  uint64_t lowerBound = 0; // the largest sum alive where all that may share count as if they did
  uint64_t peakCommand = 0;
};

/// checkRequest must have passed. Fails where buildProblem does for the required sharings.
Result<SharedSolution> solveShared(const std::vector<Value> &values, const Constraints &constraints,
                                   uint64_t enough, WorkMeter &meter);

} // namespace gantry::plan

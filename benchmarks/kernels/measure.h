// One comparison: who takes part runs in turn, round after round, and the medians are what counts.
//
// Ratios are taken within a round and only then is their median, so that a machine that becomes
// slower in the middle changes the rates and not the ratios.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"
#include "benchmarks/kernels/generated.h"

#include <optional>

namespace gantry::bench {

/// Medians over the rounds; rates are in 1e9 operations or bytes per second. `best` is a ratio of
/// each side's best round: what a busy machine takes from some rounds is not in it.
struct Comparison {
  struct Ratio {
    double median = 0, best = 0;
  };
  std::string name, shape;
  Unit unit = Unit::kFlops;
  Ceiling ceiling = Ceiling::kMultiplyAdd;
  double ceilingRate = 0;
  std::string referenceName, referenceMissing; // why there is none, "" where there is one
  /// Absent without a reference.
  std::optional<double> referenceRate, referenceError;
  std::optional<Ratio> referenceToCeiling;
  /// Absent without an artifact.
  std::optional<double> generatedRate, generatedError;
  std::optional<Ratio> generatedToReference, generatedToCeiling;
  /// Of what is counted in bytes: over the bandwidth of copying, whatever the ceiling.
  std::optional<Ratio> generatedToCopy;
};

double medianOf(std::vector<double> values);

/// artifact: path, or "" for none. A reference that is Unavailable is left out, with the reason.
/// Results are judged before anything is timed: GpuError with the
/// error and the bound where one is wrong. rounds 0: results alone.
Comparison compare(Gpu &gpu, Runtime *runtime, const Workload &workload,
                   const std::string &artifact, uint32_t rounds, uint64_t ceilingElements);

} // namespace gantry::bench

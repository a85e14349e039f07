// Runs one comparison: all contestants run in turn, in several rounds, and medians are reported.
//
// A ratio is computed within each round before the median is taken, so that a machine that becomes
// slower during the measurement changes the rates but not the ratios.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"
#include "benchmarks/kernels/generated.h"

#include <optional>

namespace gantry::bench {

/// Medians over the rounds; rates are in 1e9 operations or bytes per second. `best` is the ratio of
/// each side's best round, which other load on the machine affects least.
struct Comparison {
  struct Ratio {
    double median = 0, best = 0;
  };
  std::string name, shape;
  Unit unit = Unit::kFlops;
  Ceiling ceiling = Ceiling::kMultiplyAdd;
  double ceilingRate = 0;
  std::string referenceName;
  std::string referenceMissing; // Why there is no reference; empty if there is one.
  /// Rate of the reference; absent without one.
  std::optional<double> referenceRate, referenceError;
  std::optional<Ratio> referenceToCeiling;
  /// Rate of the generated kernel; absent without an artifact.
  std::optional<double> generatedRate, generatedError;
  std::optional<Ratio> generatedToReference, generatedToCeiling;
  /// Rate ÷ the bandwidth of copying; only for workloads that are counted in bytes.
  std::optional<Ratio> generatedToCopy;
};

double medianOf(std::vector<double> values);

/// Measures a workload. `artifact` is a path, or "" for none. A reference that throws Unavailable
/// is left out, with the reason. Results are checked before anything is timed; a wrong one throws
/// GpuError with the error and its bound. With 0 rounds only results are checked.
Comparison compare(Gpu &gpu, Runtime *runtime, const Workload &workload,
                   const std::string &artifact, uint32_t rounds, uint64_t ceilingElements);

} // namespace gantry::bench

// Runs one comparison. In each of several rounds all contestants run in turn: the generated kernel,
// its reference and the kernels that measure the device's ceilings, its peak rates (contestant.h).
//
// A ratio is computed within each round before the median is taken. If the machine becomes slower
// during the measurement, the rates change, but the ratios hardly do.
//
// Threads: used by one thread. Errors: GpuError.
#pragma once

#include "benchmarks/kernels/contestant.h"
#include "benchmarks/kernels/generated.h"

#include <optional>

namespace gantry::bench {

/// The result of a comparison. Rates are medians over the rounds, in 1e9 operations or bytes per
/// second. Errors are as Workload::error returns them.
struct Comparison {
  /// `median` is the median of the rounds' ratios. `best` is one side's highest rate ÷ the other
  /// side's highest rate; other load on the machine affects it less.
  struct Ratio {
    double median = 0, best = 0;
  };
  std::string name, shape;
  Unit unit = Unit::kFlops;
  Ceiling ceiling = Ceiling::kMultiplyAdd;
  double ceilingRate = 0;
  std::string referenceName;
  std::string referenceMissing; // Why there is no reference; empty if there is one.
  /// Rate and error of the reference; absent if there is no reference.
  std::optional<double> referenceRate, referenceError;
  std::optional<Ratio> referenceToCeiling;
  /// Rate and error of the generated kernel; absent if there is no artifact.
  std::optional<double> generatedRate, generatedError;
  std::optional<Ratio> generatedToReference, generatedToCeiling;
  /// Rate of the generated kernel ÷ the copy bandwidth; only for workloads that are counted in
  /// bytes.
  std::optional<Ratio> generatedToCopy;
};

/// Returns the median, or 0 for no values.
double medianOf(std::vector<double> values);

/// Measures a workload. `artifact` is the path of its compiled model, or "" for none; with a path,
/// `runtime` must not be null. If making the reference throws Unavailable, the comparison has no
/// reference, and referenceMissing says why. Results are checked before the rounds; a wrong result
/// throws GpuError with the error and the tolerance. With 0 rounds only results are checked.
/// `ceilingElements` is the number of floats per tensor in the measurements of the memory ceilings.
Comparison compare(Gpu &gpu, Runtime *runtime, const Workload &workload,
                   const std::string &artifact, uint32_t rounds, uint64_t ceilingElements);

} // namespace gantry::bench

// Implements measure.h.
#include "benchmarks/kernels/measure.h"

#include "benchmarks/kernels/handwritten.h"

#include <algorithm>

namespace gantry::bench {

namespace {

/// Returns the error of a contestant's result. Throws if it exceeds the workload's tolerance.
double checkedError(Contestant &contestant, const Workload &workload, const std::string &kind) {
  const double error = workload.error(contestant.result());
  if (!(error <= workload.tolerance))
    throw GpuError(workload.name + ": the relative error of the " + kind + " result is " +
                   std::to_string(error) + "; at most " + std::to_string(workload.tolerance) +
                   " is allowed");
  return error;
}

Comparison::Ratio ratioOf(const std::vector<double> &rates, const std::vector<double> &others) {
  std::vector<double> ratios;
  for (size_t round = 0; round < rates.size(); ++round)
    ratios.push_back(rates[round] / others[round]);
  return {medianOf(ratios), *std::ranges::max_element(rates) / *std::ranges::max_element(others)};
}

} // namespace

double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Comparison compare(Gpu &gpu, Runtime *runtime, const Workload &workload,
                   const std::string &artifact, uint32_t rounds, uint64_t ceilingElements) {
  Comparison comparison;
  comparison.name = workload.name;
  comparison.shape = workload.shape;
  comparison.unit = workload.unit;
  comparison.ceiling = workload.ceiling;
  comparison.referenceName = workload.referenceName;

  std::unique_ptr<Contestant> reference, generated;
  try {
    reference = workload.reference(gpu);
    comparison.referenceError = checkedError(*reference, workload, workload.referenceName);
  } catch (const Unavailable &why) {
    comparison.referenceMissing = why.what();
  }
  if (!artifact.empty()) {
    generated = std::make_unique<Generated>(*runtime, artifact, workload.inputs);
    comparison.generatedError = checkedError(*generated, workload, "generated");
  }
  if (rounds == 0 || (!reference && !generated))
    return comparison;

  const CeilingRun ceiling = ceilingRun(gpu, workload.ceiling, ceilingElements);
  CeilingRun copy;
  if (generated && workload.unit == Unit::kBytes)
    copy = ceilingRun(gpu, Ceiling::kCopy, ceilingElements);
  std::vector<double> ceilingRates, copyRates, referenceRates, generatedRates;
  for (uint32_t round = 0; round < rounds; ++round) {
    ceilingRates.push_back(ceiling.work / ceiling.contestant->seconds() * 1e-9);
    if (reference)
      referenceRates.push_back(workload.work / reference->seconds() * 1e-9);
    if (generated)
      generatedRates.push_back(workload.work / generated->seconds() * 1e-9);
    if (copy.contestant)
      copyRates.push_back(copy.work / copy.contestant->seconds() * 1e-9);
  }
  comparison.ceilingRate = medianOf(ceilingRates);
  if (reference) {
    comparison.referenceRate = medianOf(referenceRates);
    comparison.referenceToCeiling = ratioOf(referenceRates, ceilingRates);
  }
  if (generated) {
    comparison.generatedRate = medianOf(generatedRates);
    comparison.generatedToCeiling = ratioOf(generatedRates, ceilingRates);
  }
  if (generated && reference)
    comparison.generatedToReference = ratioOf(generatedRates, referenceRates);
  if (copy.contestant)
    comparison.generatedToCopy = ratioOf(generatedRates, copyRates);
  return comparison;
}

} // namespace gantry::bench

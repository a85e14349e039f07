#include "benchmarks/kernels/measure.h"

#include "benchmarks/kernels/handwritten.h"

#include <algorithm>

namespace gantry::bench {

namespace {

double judged(Contestant &contestant, const Workload &workload, const std::string &whose) {
  const double error = workload.error(contestant.result());
  if (!(error <= workload.tolerance))
    throw GpuError(workload.name + ": the result of the " + whose + " kernel is off by " +
                   std::to_string(error) + " of its norm; " + std::to_string(workload.tolerance) +
                   " is allowed");
  return error;
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

  const std::unique_ptr<Contestant> hand = workload.handwritten(gpu);
  comparison.handError = judged(*hand, workload, "hand-written");
  std::unique_ptr<Contestant> generated;
  if (!artifact.empty()) {
    generated = std::make_unique<Generated>(*runtime, artifact, workload.inputs);
    comparison.generatedError = judged(*generated, workload, "generated");
  }
  if (rounds == 0)
    return comparison;

  const CeilingRun ceiling = ceilingRun(gpu, workload.ceiling, ceilingElements);
  std::vector<double> handRates, ceilingRates, generatedRates;
  std::vector<double> handToCeiling, generatedToHand, generatedToCeiling;
  for (uint32_t round = 0; round < rounds; ++round) {
    ceilingRates.push_back(ceiling.work / ceiling.contestant->seconds() * 1e-9);
    handRates.push_back(workload.work / hand->seconds() * 1e-9);
    handToCeiling.push_back(handRates.back() / ceilingRates.back());
    if (generated) {
      generatedRates.push_back(workload.work / generated->seconds() * 1e-9);
      generatedToHand.push_back(generatedRates.back() / handRates.back());
      generatedToCeiling.push_back(generatedRates.back() / ceilingRates.back());
    }
  }
  comparison.handRate = medianOf(handRates);
  comparison.ceilingRate = medianOf(ceilingRates);
  comparison.handToCeiling = medianOf(handToCeiling);
  if (generated) {
    comparison.generatedRate = medianOf(generatedRates);
    comparison.generatedToHand = medianOf(generatedToHand);
    comparison.generatedToCeiling = medianOf(generatedToCeiling);
  }
  return comparison;
}

} // namespace gantry::bench

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
  for (uint32_t round = 0; round < rounds; ++round) {
    ceilingRates.push_back(ceiling.work / ceiling.contestant->seconds() * 1e-9);
    handRates.push_back(workload.work / hand->seconds() * 1e-9);
    if (generated)
      generatedRates.push_back(workload.work / generated->seconds() * 1e-9);
  }
  comparison.handRate = medianOf(handRates);
  comparison.ceilingRate = medianOf(ceilingRates);
  comparison.handToCeiling = ratioOf(handRates, ceilingRates);
  if (generated) {
    comparison.generatedRate = medianOf(generatedRates);
    comparison.generatedToHand = ratioOf(generatedRates, handRates);
    comparison.generatedToCeiling = ratioOf(generatedRates, ceilingRates);
  }
  return comparison;
}

} // namespace gantry::bench

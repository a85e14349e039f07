// Implements buildProblem().
#include "engine/plan/problem_builder.h"
#include "engine/base/align.h"
#include "engine/plan/occupancy.h"

#include <algorithm>

namespace gantry::plan {

BuiltProblem buildProblem(const std::vector<Value> &values) {
  BuiltProblem built;
  Problem &problem = built.problem;
  const uint64_t smallest = smallestAlignment(values);
  const bool aligned = std::any_of(values.begin(), values.end(), [](const Value &value) {
    return value.sizeBytes != 0 && value.alignment != 1;
  });
  built.itemOfValue.assign(values.size(), kNoItem);
  problem.size.reserve(values.size()); // Growing by doubling would double the peak memory.
  std::vector<uint64_t> begins;        // In commands.
  std::vector<uint64_t> ends;          // In commands, exclusive; up to 2^32.
  begins.reserve(values.size());
  ends.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Value &value = values[i];
    if (value.sizeBytes == 0)
      continue;
    built.itemOfValue[i] = problem.count();
    problem.size.push_back(roundUp(value.sizeBytes, smallest));
    if (aligned)
      problem.alignment.push_back(value.alignment);
    begins.push_back(value.firstUse);
    ends.push_back(uint64_t{value.lastUse} + 1);
  }
  const std::vector<uint64_t> moments = compressTime(problem, begins, ends);
  findLowerBound(problem);
  if (problem.count() > 0)
    built.peakCommand = static_cast<uint32_t>(moments[problem.peakStep]);
  return built;
}

} // namespace gantry::plan

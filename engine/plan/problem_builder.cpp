// Implements buildProblem(), with the check that fixed items do not overlap.
#include "engine/plan/problem_builder.h"
#include "engine/base/align.h"
#include "engine/plan/occupancy.h"

#include <algorithm>
#include <map>
#include <optional>

namespace gantry::plan {

namespace {

/// Returns the number of the item's value (the inverse of itemOfValue).
uint32_t valueOf(const BuiltProblem &built, uint32_t item) {
  const auto found = std::find(built.itemOfValue.begin(), built.itemOfValue.end(), item);
  return static_cast<uint32_t>(found - built.itemOfValue.begin());
}

/// Returns an error where two fixed items overlap in time and addresses. Sweeps over time and keeps
/// the live fixed items sorted by offset.
Status checkFixedItems(const BuiltProblem &built) {
  const Problem &problem = built.problem;
  std::vector<uint32_t> byBegin;
  for (uint32_t i = 0; i < problem.count(); ++i)
    if (problem.isFixed(i))
      byBegin.push_back(i);
  std::vector<uint32_t> byEnd = byBegin;
  const auto sortBy = [](std::vector<uint32_t> &items, const std::vector<uint32_t> &key) {
    std::stable_sort(items.begin(), items.end(),
                     [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
  };
  sortBy(byBegin, problem.begin);
  sortBy(byEnd, problem.end);
  std::map<uint64_t, uint32_t> live; // Items by offset.
  size_t ended = 0;
  for (const uint32_t item : byBegin) {
    for (; problem.end[byEnd[ended]] <= problem.begin[item]; ++ended)
      live.erase(problem.fixedOffset[byEnd[ended]]);
    const uint64_t offset = problem.fixedOffset[item];
    const auto above = live.lower_bound(offset);
    std::optional<uint32_t> other;
    if (above != live.end() && above->first < offset + problem.size[item])
      other = above->second;
    if (above != live.begin())
      if (const auto below = std::prev(above); below->first + problem.size[below->second] > offset)
        other = below->second;
    if (other)
      return statusf(StatusCode::kInvalidArgument,
                     "values %u and %u are pinned so that they overlap; move one of them",
                     valueOf(built, std::min(item, *other)),
                     valueOf(built, std::max(item, *other)));
    live.emplace(offset, item);
  }
  return Status::ok();
}

} // namespace

Result<BuiltProblem> buildProblem(const std::vector<Value> &values, const std::vector<Pin> &pins) {
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
  for (const Pin &pin : pins)
    if (const uint32_t item = built.itemOfValue[pin.value]; item != kNoItem) {
      problem.fixedOffset.resize(problem.count(), kFreeOffset);
      problem.fixedOffset[item] = pin.offset;
    }
  const std::vector<uint64_t> moments = compressTime(problem, begins, ends);
  findLowerBound(problem);
  if (problem.count() > 0)
    built.peakCommand = static_cast<uint32_t>(moments[problem.peakStep]);
  GANTRY_RETURN_IF_ERROR(checkFixedItems(built));
  return built;
}

} // namespace gantry::plan

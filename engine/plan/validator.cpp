#include "engine/plan/plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace gantry::plan {

namespace {

using PrintableBytes = unsigned long long;

Status overlap(const std::vector<Value> &values, const Plan &plan, uint32_t a, uint32_t b) {
  const uint32_t first = std::min(a, b);
  const uint32_t second = std::max(a, b);
  return statusf(
      StatusCode::kInternal,
      "the plan lets values %u (bytes %llu to %llu) and %u (bytes %llu to %llu) overlap at "
      "command %u",
      first, static_cast<PrintableBytes>(plan.offsets[first]),
      static_cast<PrintableBytes>(plan.offsets[first] + values[first].sizeBytes - 1), second,
      static_cast<PrintableBytes>(plan.offsets[second]),
      static_cast<PrintableBytes>(plan.offsets[second] + values[second].sizeBytes - 1),
      std::max(values[first].firstUse, values[second].firstUse));
}

} // namespace

Status validatePlan(const std::vector<Value> &values, const Plan &plan) {
  if (plan.offsets.size() != values.size())
    return statusf(StatusCode::kInternal, "the plan has %zu offsets for %zu values",
                   plan.offsets.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t offset = plan.offsets[i];
    if (values[i].alignment == 0 || offset % values[i].alignment != 0)
      return statusf(
          StatusCode::kInternal, "the plan puts value %zu at %llu, against its alignment %llu", i,
          static_cast<PrintableBytes>(offset), static_cast<PrintableBytes>(values[i].alignment));
    if (offset > plan.heightBytes || values[i].sizeBytes > plan.heightBytes - offset)
      return statusf(StatusCode::kInternal,
                     "the plan puts value %zu of %llu bytes at %llu, outside of its height %llu", i,
                     static_cast<PrintableBytes>(values[i].sizeBytes),
                     static_cast<PrintableBytes>(offset),
                     static_cast<PrintableBytes>(plan.heightBytes));
  }

  // Walk through time. Those alive are disjoint as long as nothing was found, so that a newcomer
  // can only overlap the neighbours of its offset.
  std::vector<uint32_t> byBegin(values.size());
  std::iota(byBegin.begin(), byBegin.end(), 0u);
  std::vector<uint32_t> byEnd = byBegin;
  std::stable_sort(byBegin.begin(), byBegin.end(),
                   [&](uint32_t a, uint32_t b) { return values[a].firstUse < values[b].firstUse; });
  std::stable_sort(byEnd.begin(), byEnd.end(),
                   [&](uint32_t a, uint32_t b) { return values[a].lastUse < values[b].lastUse; });
  std::map<uint64_t, uint32_t> alive; // offset → value
  size_t ended = 0;
  for (const uint32_t value : byBegin) {
    for (; ended < byEnd.size() && values[byEnd[ended]].lastUse < values[value].firstUse; ++ended)
      if (values[byEnd[ended]].sizeBytes != 0)
        alive.erase(plan.offsets[byEnd[ended]]);
    if (values[value].sizeBytes == 0)
      continue;
    const uint64_t begin = plan.offsets[value];
    const auto above = alive.lower_bound(begin);
    if (above != alive.end() && above->first < begin + values[value].sizeBytes)
      return overlap(values, plan, above->second, value);
    if (above != alive.begin()) {
      const auto below = std::prev(above);
      if (below->first + values[below->second].sizeBytes > begin)
        return overlap(values, plan, below->second, value);
    }
    alive.emplace(begin, value);
  }
  return Status::ok();
}

} // namespace gantry::plan

// validatePlan(): checks each value alone, then sweeps over the commands and compares each value
// that becomes alive with its neighbours in the arena.
#include "engine/plan/plan.h"

#include <algorithm>
#include <map>

namespace gantry::plan {

namespace {

using Printable = unsigned long long;

Status checkEach(const std::vector<Value> &values, const Plan &plan) {
  if (plan.offsets.size() != values.size())
    return statusf(StatusCode::kInternal, "the plan has %zu offsets for %zu values",
                   plan.offsets.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t offset = plan.offsets[i];
    if (values[i].alignment == 0 || offset % values[i].alignment != 0)
      return statusf(StatusCode::kInternal,
                     "the plan puts value %zu at %llu, which is no multiple of its alignment %llu",
                     i, static_cast<Printable>(offset),
                     static_cast<Printable>(values[i].alignment));
    if (values[i].firstUse > values[i].lastUse)
      return statusf(StatusCode::kInternal, "the last use of value %zu comes before its first use",
                     i);
    if (values[i].sizeBytes != 0 && // A value without bytes may lie anywhere.
        (offset > plan.heightBytes || values[i].sizeBytes > plan.heightBytes - offset))
      return statusf(
          StatusCode::kInternal,
          "the plan puts value %zu of %llu bytes at %llu, outside of the plan's height %llu", i,
          static_cast<Printable>(values[i].sizeBytes), static_cast<Printable>(offset),
          static_cast<Printable>(plan.heightBytes));
  }
  return Status::ok();
}

Status overlap(const std::vector<Value> &values, const Plan &plan, uint32_t a, uint32_t b) {
  const uint32_t first = std::min(a, b);
  const uint32_t second = std::max(a, b);
  const auto lastByte = [&](uint32_t i) {
    return static_cast<Printable>(plan.offsets[i] + values[i].sizeBytes - 1);
  };
  return statusf(StatusCode::kInternal,
                 "the plan lets values %u (bytes %llu to %llu) and %u (bytes %llu to %llu) overlap "
                 "at command %u",
                 first, static_cast<Printable>(plan.offsets[first]), lastByte(first), second,
                 static_cast<Printable>(plan.offsets[second]), lastByte(second),
                 std::max(values[first].firstUse, values[second].firstUse));
}

/// Returns an error where two values overlap in time and addresses. As long as the sweep has found
/// no overlap, the live values are disjoint. A new value therefore overlaps a live value only if it
/// overlaps the nearest live value below or above.
Status checkOverlaps(const std::vector<Value> &values, const Plan &plan) {
  std::vector<uint32_t> byFirstUse;
  for (uint32_t i = 0; i < values.size(); ++i)
    if (values[i].sizeBytes != 0)
      byFirstUse.push_back(i);
  std::vector<uint32_t> byLastUse = byFirstUse;
  std::sort(byFirstUse.begin(), byFirstUse.end(),
            [&](uint32_t a, uint32_t b) { return values[a].firstUse < values[b].firstUse; });
  std::sort(byLastUse.begin(), byLastUse.end(),
            [&](uint32_t a, uint32_t b) { return values[a].lastUse < values[b].lastUse; });
  std::map<uint64_t, uint32_t> live; // Values by offset.
  size_t ended = 0;
  for (const uint32_t value : byFirstUse) {
    for (; values[byLastUse[ended]].lastUse < values[value].firstUse; ++ended)
      live.erase(plan.offsets[byLastUse[ended]]);
    const uint64_t offset = plan.offsets[value];
    const auto above = live.lower_bound(offset);
    if (above != live.end() && above->first < offset + values[value].sizeBytes)
      return overlap(values, plan, above->second, value);
    if (above != live.begin()) {
      const auto below = std::prev(above);
      if (below->first + values[below->second].sizeBytes > offset)
        return overlap(values, plan, below->second, value);
    }
    live.emplace(offset, value);
  }
  return Status::ok();
}

} // namespace

Status validatePlan(const std::vector<Value> &values, const Plan &plan) {
  GANTRY_RETURN_IF_ERROR(checkEach(values, plan));
  return checkOverlaps(values, plan);
}

} // namespace gantry::plan

#include "engine/plan/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

/// A time in which a value keeps its bytes; end is exclusive.
struct Stretch {
  uint64_t begin;
  uint64_t end;
  uint32_t value;
};

using Place = std::pair<uint32_t, uint64_t>; // arena, offset

class Judge {
public:
  Judge(const std::vector<Value> &values, const Plan &plan, const Constraints &constraints)
      : values_(values), plan_(plan), constraints_(constraints) {}

  Status judge() {
    GANTRY_RETURN_IF_ERROR(judgeEach());
    GANTRY_RETURN_IF_ERROR(judgeHeights());
    for (const Pin &pin : constraints_.pins)
      if (placeOf(pin.value) != Place(pin.arena, pin.offset))
        return statusf(StatusCode::kInternal,
                       "the plan puts value %u at %llu of arena %u, against its pin at %llu of "
                       "arena %u",
                       pin.value, static_cast<PrintableBytes>(plan_.offsets[pin.value]),
                       arenaOf(pin.value), static_cast<PrintableBytes>(pin.offset), pin.arena);
    for (const Sharing &sharing : constraints_.sharings) {
      mayShare_.insert(std::minmax(sharing.first, sharing.second));
      if (sharing.required && values_[sharing.first].sizeBytes != 0 &&
          values_[sharing.second].sizeBytes != 0 &&
          placeOf(sharing.first) != placeOf(sharing.second))
        return statusf(StatusCode::kInternal,
                       "the plan puts value %u at %llu and value %u at %llu, which must share "
                       "storage",
                       sharing.first, static_cast<PrintableBytes>(plan_.offsets[sharing.first]),
                       sharing.second, static_cast<PrintableBytes>(plan_.offsets[sharing.second]));
    }
    GANTRY_RETURN_IF_ERROR(judgeZones());
    return judgeOverlaps();
  }

private:
  uint32_t arenaOf(uint32_t value) const { return plan_.arenas.empty() ? 0 : plan_.arenas[value]; }
  Place placeOf(uint32_t value) const { return {arenaOf(value), plan_.offsets[value]}; }
  uint64_t endOf(uint32_t value) const { return plan_.offsets[value] + values_[value].sizeBytes; }

  Status judgeEach() const {
    if (plan_.offsets.size() != values_.size())
      return statusf(StatusCode::kInternal, "the plan has %zu offsets for %zu values",
                     plan_.offsets.size(), values_.size());
    if (!plan_.arenas.empty() && plan_.arenas.size() != values_.size())
      return statusf(StatusCode::kInternal, "the plan has %zu arenas for %zu values",
                     plan_.arenas.size(), values_.size());
    for (uint32_t i = 0; i < values_.size(); ++i) {
      const uint64_t offset = plan_.offsets[i];
      if (values_[i].alignment == 0 || offset % values_[i].alignment != 0)
        return statusf(
            StatusCode::kInternal, "the plan puts value %u at %llu, against its alignment %llu", i,
            static_cast<PrintableBytes>(offset), static_cast<PrintableBytes>(values_[i].alignment));
      if (!plan_.arenas.empty() && plan_.arenas[i] >= plan_.arenaHeights.size())
        return statusf(StatusCode::kInternal, "the plan puts value %u in arena %u of %zu", i,
                       plan_.arenas[i], plan_.arenaHeights.size());
      const uint64_t height =
          plan_.arenas.empty() ? plan_.heightBytes : plan_.arenaHeights[plan_.arenas[i]];
      if (offset > height || values_[i].sizeBytes > height - offset)
        return statusf(StatusCode::kInternal,
                       "the plan puts value %u of %llu bytes at %llu, outside of its height %llu",
                       i, static_cast<PrintableBytes>(values_[i].sizeBytes),
                       static_cast<PrintableBytes>(offset), static_cast<PrintableBytes>(height));
    }
    return Status::ok();
  }

  Status judgeHeights() const {
    std::vector<uint64_t> heights = plan_.arenaHeights;
    if (plan_.arenas.empty())
      heights = {plan_.heightBytes};
    if (heights.size() > std::max<size_t>(constraints_.mostArenas, 1))
      return statusf(StatusCode::kInternal, "the plan uses %zu arenas where %u are allowed",
                     heights.size(), constraints_.mostArenas);
    uint64_t sum = 0;
    for (size_t arena = 0; arena < heights.size(); ++arena) {
      sum += heights[arena];
      if (heights[arena] > constraints_.arenaCapBytes)
        return statusf(StatusCode::kInternal,
                       "the plan makes arena %zu %llu bytes high, above its cap %llu", arena,
                       static_cast<PrintableBytes>(heights[arena]),
                       static_cast<PrintableBytes>(constraints_.arenaCapBytes));
    }
    if (sum != plan_.heightBytes)
      return statusf(StatusCode::kInternal, "the plan's arenas add up to %llu, its height is %llu",
                     static_cast<PrintableBytes>(sum),
                     static_cast<PrintableBytes>(plan_.heightBytes));
    return Status::ok();
  }

  /// When each value keeps its bytes: its life without its gaps.
  std::vector<Stretch> stretches() const {
    std::vector<Gap> gaps = constraints_.gaps;
    std::sort(gaps.begin(), gaps.end(), [](const Gap &a, const Gap &b) {
      return std::pair(a.value, a.firstCommand) < std::pair(b.value, b.firstCommand);
    });
    std::vector<Stretch> result;
    size_t next = 0;
    for (uint32_t i = 0; i < values_.size(); ++i) {
      uint64_t begin = values_[i].firstUse;
      for (; next < gaps.size() && gaps[next].value == i; ++next) {
        if (values_[i].sizeBytes != 0 && gaps[next].firstCommand > begin)
          result.push_back({begin, gaps[next].firstCommand, i});
        begin = std::max<uint64_t>(begin, uint64_t{gaps[next].lastCommand} + 1);
      }
      if (values_[i].sizeBytes != 0)
        result.push_back({begin, uint64_t{values_[i].lastUse} + 1, i});
    }
    return result;
  }

  Status judgeZones() const {
    if (constraints_.zones.empty())
      return Status::ok();
    for (const Stretch &stretch : stretches())
      for (const Zone &zone : constraints_.zones)
        if (zone.arena == arenaOf(stretch.value) && stretch.begin <= zone.lastUse &&
            zone.firstUse < stretch.end && zone.offset < endOf(stretch.value) &&
            (zone.offset >= plan_.offsets[stretch.value] ||
             plan_.offsets[stretch.value] - zone.offset < zone.sizeBytes) &&
            zone.sizeBytes != 0)
          return statusf(StatusCode::kInternal,
                         "the plan puts value %u (bytes %llu to %llu) into the zone of %llu bytes "
                         "at %llu",
                         stretch.value, static_cast<PrintableBytes>(plan_.offsets[stretch.value]),
                         static_cast<PrintableBytes>(endOf(stretch.value) - 1),
                         static_cast<PrintableBytes>(zone.sizeBytes),
                         static_cast<PrintableBytes>(zone.offset));
    return Status::ok();
  }

  /// A walk through time. As long as nothing was found, those alive are disjoint or lie at one
  /// offset and share it, so a newcomer need only be held against its neighbours.
  Status judgeOverlaps() const {
    std::vector<Stretch> byBegin = stretches();
    std::vector<std::pair<uint64_t, uint32_t>> byEnd;
    byEnd.reserve(byBegin.size());
    for (const Stretch &stretch : byBegin)
      byEnd.emplace_back(stretch.end, stretch.value);
    std::sort(byBegin.begin(), byBegin.end(), [](const Stretch &a, const Stretch &b) {
      return std::pair(a.begin, a.value) < std::pair(b.begin, b.value);
    });
    std::sort(byEnd.begin(), byEnd.end());
    std::multimap<Place, uint32_t> alive;
    size_t ended = 0;
    for (const Stretch &stretch : byBegin) {
      for (; ended < byEnd.size() && byEnd[ended].first <= stretch.begin; ++ended) {
        auto at = alive.lower_bound(placeOf(byEnd[ended].second));
        while (at->second != byEnd[ended].second)
          ++at;
        alive.erase(at);
      }
      const uint32_t value = stretch.value;
      const Place place = placeOf(value);
      auto above = alive.lower_bound(place);
      // Of those that share the place below, any may be the one that reaches up to here.
      for (auto below = above; below != alive.begin();) {
        --below;
        if (below->first.first != place.first ||
            below->first.second != std::prev(above)->first.second)
          break;
        if (endOf(below->second) > place.second)
          return overlap(values_, plan_, below->second, value);
      }
      for (; above != alive.end() && above->first == place; ++above)
        if (!mayShare_.contains(std::minmax(above->second, value)))
          return overlap(values_, plan_, above->second, value);
      if (above != alive.end() && above->first.first == place.first &&
          above->first.second < endOf(value))
        return overlap(values_, plan_, above->second, value);
      alive.emplace_hint(above, place, value);
    }
    return Status::ok();
  }

  const std::vector<Value> &values_;
  const Plan &plan_;
  const Constraints &constraints_;
  std::set<std::pair<uint32_t, uint32_t>> mayShare_;
};

} // namespace

Status validatePlan(const std::vector<Value> &values, const Plan &plan) {
  return Judge(values, plan, {}).judge();
}

Status validatePlan(const std::vector<Value> &values, const Plan &plan,
                    const Constraints &constraints) {
  return Judge(values, plan, constraints).judge();
}

} // namespace gantry::plan

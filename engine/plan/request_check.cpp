// What a request must hold before a problem is made of it.
#include "engine/base/align.h"
#include "engine/plan/problem_builder.h"

#include <algorithm>
#include <optional>

namespace gantry::plan {

namespace {

using Printable = unsigned long long;

/// Heights, and sums of two of them, stay far below 2^64.
constexpr uint64_t kMostConstrainedBytes = uint64_t{1} << 60;

Status checkValues(const std::vector<Value> &values, uint64_t &total) {
  total = 0; // of all values above each other, with what alignment may cost
  for (size_t i = 0; i < values.size(); ++i) {
    const Value &value = values[i];
    if (!isPowerOfTwo(value.alignment))
      return statusf(StatusCode::kInvalidArgument,
                     "value %zu has alignment %llu; a power of two is needed", i,
                     static_cast<Printable>(value.alignment));
    if (value.firstUse > value.lastUse)
      return statusf(StatusCode::kInvalidArgument,
                     "value %zu is used first by command %u and last by command %u", i,
                     value.firstUse, value.lastUse);
    const std::optional<uint64_t> rounded = checkedRoundUp(value.sizeBytes, value.alignment);
    const std::optional<uint64_t> padded =
        rounded ? checkedAdd(*rounded, value.alignment - 1) : std::nullopt;
    const std::optional<uint64_t> sum = padded ? checkedAdd(total, *padded) : std::nullopt;
    if (!sum)
      return statusf(StatusCode::kInvalidArgument,
                     "the sizes up to value %zu (%llu bytes, alignment %llu) exceed 64 bits", i,
                     static_cast<Printable>(value.sizeBytes),
                     static_cast<Printable>(value.alignment));
    total = *sum;
  }
  return Status::ok();
}

Status checkNumber(const char *what, size_t index, uint32_t value, size_t count) {
  if (value < count)
    return Status::ok();
  return statusf(StatusCode::kInvalidArgument, "%s %zu names value %u, but there are %zu values",
                 what, index, value, count);
}

Status checkArena(const char *what, size_t index, uint32_t arena, const Constraints &constraints) {
  if (arena < constraints.mostArenas)
    return Status::ok();
  return statusf(StatusCode::kInvalidArgument, "%s %zu lies in arena %u, but there are at most %u",
                 what, index, arena, constraints.mostArenas);
}

Status checkPins(const std::vector<Value> &values, const Constraints &constraints) {
  std::vector<bool> pinned(values.size());
  for (size_t k = 0; k < constraints.pins.size(); ++k) {
    const Pin &pin = constraints.pins[k];
    GANTRY_RETURN_IF_ERROR(checkNumber("pin", k, pin.value, values.size()));
    GANTRY_RETURN_IF_ERROR(checkArena("pin", k, pin.arena, constraints));
    const Value &value = values[pin.value];
    if (pinned[pin.value])
      return statusf(StatusCode::kInvalidArgument, "value %u is pinned twice", pin.value);
    pinned[pin.value] = true;
    if (pin.offset % value.alignment != 0)
      return statusf(StatusCode::kInvalidArgument,
                     "value %u is pinned at %llu, which is no multiple of its alignment %llu",
                     pin.value, static_cast<Printable>(pin.offset),
                     static_cast<Printable>(value.alignment));
    const uint64_t occupied = roundUp(value.sizeBytes, value.alignment);
    if (pin.offset > constraints.arenaCapBytes || occupied > constraints.arenaCapBytes - pin.offset)
      return statusf(
          StatusCode::kInvalidArgument,
          "value %u of %llu bytes is pinned at %llu, beyond the end of its arena of %llu "
          "bytes",
          pin.value, static_cast<Printable>(occupied), static_cast<Printable>(pin.offset),
          static_cast<Printable>(constraints.arenaCapBytes));
    if (pin.offset >= kMostConstrainedBytes)
      return statusf(StatusCode::kInvalidArgument, "value %u is pinned at %llu; at most %llu works",
                     pin.value, static_cast<Printable>(pin.offset),
                     static_cast<Printable>(kMostConstrainedBytes));
  }
  return Status::ok();
}

Status checkGaps(const std::vector<Value> &values, const Constraints &constraints) {
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (size_t k = 0; k < constraints.gaps.size(); ++k) {
    const Gap &gap = constraints.gaps[k];
    GANTRY_RETURN_IF_ERROR(checkNumber("gap", k, gap.value, values.size()));
    const Value &value = values[gap.value];
    if (gap.firstCommand > gap.lastCommand || gap.firstCommand <= value.firstUse ||
        gap.lastCommand >= value.lastUse)
      return statusf(StatusCode::kInvalidArgument,
                     "the gap of value %u, commands %u to %u, is not inside of its life, commands "
                     "%u to %u",
                     gap.value, gap.firstCommand, gap.lastCommand, value.firstUse, value.lastUse);
  }
  return Status::ok();
}

} // namespace

Status checkRequest(const std::vector<Value> &values, const Constraints &constraints) {
  uint64_t total = 0;
  GANTRY_RETURN_IF_ERROR(checkValues(values, total));
  GANTRY_RETURN_IF_ERROR(checkPins(values, constraints));
  GANTRY_RETURN_IF_ERROR(checkGaps(values, constraints));
  for (size_t k = 0; k < constraints.sharings.size(); ++k) {
    const Sharing &sharing = constraints.sharings[k];
    GANTRY_RETURN_IF_ERROR(checkNumber("sharing", k, sharing.first, values.size()));
    GANTRY_RETURN_IF_ERROR(checkNumber("sharing", k, sharing.second, values.size()));
    if (sharing.first == sharing.second)
      return statusf(StatusCode::kInvalidArgument, "sharing %zu is of value %u with itself", k,
                     sharing.first);
  }
  for (size_t k = 0; k < constraints.zones.size(); ++k) {
    const Zone &zone = constraints.zones[k];
    GANTRY_RETURN_IF_ERROR(checkArena("zone", k, zone.arena, constraints));
    if (zone.firstUse > zone.lastUse)
      return statusf(StatusCode::kInvalidArgument, "zone %zu begins at command %u and ends at %u",
                     k, zone.firstUse, zone.lastUse);
  }
  const bool constrained =
      !constraints.pins.empty() || !constraints.zones.empty() || constraints.mostArenas > 1;
  if (constrained && total >= kMostConstrainedBytes)
    return statusf(
        StatusCode::kInvalidArgument,
        "the sizes add up to %llu bytes; with pins, zones or several arenas at most %llu "
        "work",
        static_cast<Printable>(total), static_cast<Printable>(kMostConstrainedBytes));
  if (constraints.mostArenas == 0)
    return statusf(StatusCode::kInvalidArgument, "at least one arena is needed");
  uint64_t alignment = 1;
  for (const Value &value : values)
    alignment = std::max(alignment, value.alignment);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t occupied = roundUp(values[i].sizeBytes, values[i].alignment);
    if (occupied > constraints.arenaCapBytes / alignment * alignment)
      return statusf(
          StatusCode::kOutOfMemory, "value %zu needs %llu bytes, more than the %llu of one arena",
          i, static_cast<Printable>(occupied), static_cast<Printable>(constraints.arenaCapBytes));
  }
  if (constraints.mostArenas > 1 && constraints.arenaCapBytes < total &&
      constraints.arenaCapBytes > kMostConstrainedBytes / constraints.mostArenas)
    return statusf(StatusCode::kInvalidArgument,
                   "%u arenas of %llu bytes are more than can be counted; lower one of the two",
                   constraints.mostArenas, static_cast<Printable>(constraints.arenaCapBytes));
  return Status::ok();
}

} // namespace gantry::plan

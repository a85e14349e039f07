// lowerBound(): sweeps over the commands and adds up the occupied bytes of the live values.
#include "engine/base/align.h"
#include "engine/plan/occupancy.h"
#include "engine/plan/plan.h"

#include <algorithm>

namespace gantry::plan {

namespace {

/// The first or the last command of a value.
struct Event {
  uint32_t command;
  uint64_t occupiedBytes;
};

} // namespace

uint64_t lowerBound(const std::vector<Value> &values, uint32_t *peakCommand) {
  std::vector<Event> begins;
  std::vector<Event> ends;
  const uint64_t alignment = smallestAlignment(values);
  for (const Value &value : values) {
    const uint64_t occupied = checkedRoundUp(value.sizeBytes, alignment).value_or(UINT64_MAX);
    begins.push_back({value.firstUse, occupied});
    ends.push_back({value.lastUse, occupied});
  }
  const auto byCommand = [](const Event &a, const Event &b) { return a.command < b.command; };
  std::sort(begins.begin(), begins.end(), byCommand);
  std::sort(ends.begin(), ends.end(), byCommand);

  // The sum of the live sizes may exceed 64 bits.
  unsigned __int128 alive = 0;
  uint64_t peak = 0;
  uint32_t peakAt = 0;
  size_t ended = 0;
  for (size_t begun = 0; begun < begins.size();) {
    const uint32_t command = begins[begun].command;
    for (; ended < ends.size() && ends[ended].command < command; ++ended)
      alive -= ends[ended].occupiedBytes;
    for (; begun < begins.size() && begins[begun].command == command; ++begun)
      alive += begins[begun].occupiedBytes;
    const uint64_t now = alive > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(alive);
    if (now > peak) {
      peak = now;
      peakAt = command;
    }
  }
  if (peakCommand != nullptr)
    *peakCommand = peakAt;
  return peak;
}

} // namespace gantry::plan

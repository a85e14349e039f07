// Implements DispatchTable: lane assignment, and searches within a lane.
#include "profiler_gui/model/capture/dispatch_table.h"

#include <algorithm>
#include <utility>

namespace gantry::profiler {

uint32_t DispatchTable::append(Dispatch dispatch) {
  const uint32_t index = size();
  Lane *chosen = nullptr;
  uint32_t deviceLanes = 0;
  for (Lane &lane : lanes_) {
    if (lane.device != dispatch.device)
      continue;
    ++deviceLanes;
    if (lane.lastEndNs <= dispatch.beginNs) {
      chosen = &lane;
      break;
    }
  }
  if (chosen == nullptr) {
    Lane lane;
    lane.device = dispatch.device;
    lane.number = deviceLanes;
    lanes_.push_back(std::move(lane));
    chosen = &lanes_.back();
  }
  dispatch.lane = static_cast<uint16_t>(chosen - lanes_.data());
  chosen->lastEndNs = std::max(chosen->lastEndNs, dispatch.endNs);
  if (chosen->dispatches.size() % kGroup == 0) {
    chosen->maxShared.push_back(0);
    chosen->begins.push_back(dispatch.beginNs);
  }
  chosen->maxSharedOfAll = std::max(chosen->maxSharedOfAll, dispatch.sharedBytes);
  chosen->maxShared.back() = std::max(chosen->maxShared.back(), dispatch.sharedBytes);
  chosen->dispatches.push_back(index);
  dispatches_.push_back(dispatch);
  return index;
}

DispatchTable::Range DispatchTable::inWindow(const Lane &lane, double beginNs, double endNs) const {
  // A lane is free of overlaps, so only the last dispatch that begins before the window can reach
  // into it.
  uint32_t first = firstFrom(lane, 0, beginNs);
  if (first > 0 && static_cast<double>(dispatches_[lane.dispatches[first - 1]].endNs) > beginNs)
    --first;
  return {first, firstFrom(lane, first, endNs)};
}

uint32_t DispatchTable::firstFrom(const Lane &lane, uint32_t from, double timeNs) const {
  const auto before = [&](uint64_t begin) { return static_cast<double>(begin) < timeNs; };
  const size_t groups = lane.begins.size();
  // Galloping search over the groups: doubles the step until it passes timeNs, then bisects.
  size_t low = from / kGroup;
  size_t ahead = 1;
  while (low + ahead < groups && before(lane.begins[low + ahead])) {
    low += ahead;
    ahead *= 2;
  }
  size_t high = std::min(groups, low + ahead);
  while (low + 1 < high) {
    const size_t middle = low + (high - low) / 2;
    (before(lane.begins[middle]) ? low : high) = middle;
  }
  const size_t count = lane.dispatches.size();
  const auto first = lane.dispatches.begin() +
                     static_cast<ptrdiff_t>(std::min(count, std::max<size_t>(from, low * kGroup)));
  const auto last = std::max(
      first, lane.dispatches.begin() + static_cast<ptrdiff_t>(std::min(count, (low + 1) * kGroup)));
  const auto found = std::partition_point(
      first, last, [&](uint32_t index) { return before(dispatches_[index].beginNs); });
  return static_cast<uint32_t>(found - lane.dispatches.begin());
}

uint32_t DispatchTable::maxShared(const Lane &lane, Range range) const {
  uint32_t maxBytes = 0;
  for (uint32_t at = range.first; at < range.last;) {
    if (at % kGroup == 0 && at + kGroup <= range.last) {
      maxBytes = std::max(maxBytes, lane.maxShared[at / kGroup]);
      at += kGroup;
    } else {
      maxBytes = std::max(maxBytes, dispatches_[lane.dispatches[at]].sharedBytes);
      ++at;
    }
  }
  return maxBytes;
}

void DispatchTable::shrink() {
  dispatches_.shrink();
  for (Lane &lane : lanes_) {
    lane.dispatches.shrink();
    lane.maxShared.shrink();
    lane.begins.shrink();
  }
}

uint64_t DispatchTable::memoryBytes() const {
  uint64_t bytes = dispatches_.capacity() * sizeof(Dispatch);
  for (const Lane &lane : lanes_)
    bytes += (lane.dispatches.capacity() + lane.maxShared.capacity()) * sizeof(uint32_t) +
             lane.begins.capacity() * sizeof(uint64_t);
  return bytes;
}

} // namespace gantry::profiler

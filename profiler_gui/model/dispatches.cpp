#include "profiler_gui/model/dispatches.h"

#include <algorithm>
#include <utility>

namespace gantry::profiler {

uint32_t DispatchTable::append(Dispatch dispatch) {
  const uint32_t index = size();
  Lane *chosen = nullptr;
  uint32_t ofDevice = 0;
  for (Lane &lane : lanes_) {
    if (lane.device != dispatch.device)
      continue;
    ++ofDevice;
    if (lane.lastEndNs <= dispatch.beginNs) {
      chosen = &lane;
      break;
    }
  }
  if (chosen == nullptr) {
    Lane lane;
    lane.device = dispatch.device;
    lane.number = ofDevice;
    lanes_.push_back(std::move(lane));
    chosen = &lanes_.back();
  }
  dispatch.lane = static_cast<uint16_t>(chosen - lanes_.data());
  chosen->lastEndNs = std::max(chosen->lastEndNs, dispatch.endNs);
  if (chosen->dispatches.size() % kGroup == 0)
    chosen->mostShared.push_back(0);
  chosen->mostShared.back() = std::max(chosen->mostShared.back(), dispatch.sharedBytes);
  chosen->dispatches.push_back(index);
  dispatches_.push_back(dispatch);
  return index;
}

DispatchTable::Range DispatchTable::inWindow(const Lane &lane, double beginNs, double endNs) const {
  const auto &order = lane.dispatches;
  const auto first = std::partition_point(order.begin(), order.end(), [&](uint32_t index) {
    return static_cast<double>(dispatches_[index].endNs) <= beginNs;
  });
  const auto last = std::partition_point(first, order.end(), [&](uint32_t index) {
    return static_cast<double>(dispatches_[index].beginNs) < endNs;
  });
  return {static_cast<uint32_t>(first - order.begin()),
          static_cast<uint32_t>(last - order.begin())};
}

uint32_t DispatchTable::mostShared(const Lane &lane, Range range) const {
  uint32_t most = 0;
  for (uint32_t at = range.first; at < range.last;) {
    if (at % kGroup == 0 && at + kGroup <= range.last) {
      most = std::max(most, lane.mostShared[at / kGroup]);
      at += kGroup;
    } else {
      most = std::max(most, dispatches_[lane.dispatches[at]].sharedBytes);
      ++at;
    }
  }
  return most;
}

void DispatchTable::shrink() {
  dispatches_.shrink_to_fit();
  for (Lane &lane : lanes_) {
    lane.dispatches.shrink_to_fit();
    lane.mostShared.shrink_to_fit();
  }
}

uint64_t DispatchTable::memoryBytes() const {
  uint64_t bytes = dispatches_.capacity() * sizeof(Dispatch);
  for (const Lane &lane : lanes_)
    bytes += (lane.dispatches.capacity() + lane.mostShared.capacity()) * sizeof(uint32_t);
  return bytes;
}

} // namespace gantry::profiler

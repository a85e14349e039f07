// Implements GrowthWatch.
#include "profiler_gui/model/analysis/growth_watch.h"

#include <algorithm>

namespace gantry::profiler {

void GrowthWatch::change(uint32_t name, uint32_t op, uint64_t bytes, bool taken) {
  const uint64_t key = (static_cast<uint64_t>(name) << 32) | op;
  const uint64_t *known = groupOf_.find(key);
  const uint32_t index =
      known != nullptr ? static_cast<uint32_t>(*known) : static_cast<uint32_t>(groups_.size());
  if (known == nullptr) {
    groupOf_.set(key, index);
    groups_.emplace_back();
    groups_.back().name = name;
    groups_.back().op = op;
  }
  Group &group = groups_[index];
  group.liveBytes =
      taken ? group.liveBytes + bytes : group.liveBytes - std::min(group.liveBytes, bytes);
  if (!group.touched) {
    group.touched = true;
    touched_.push_back(index);
  }
}

void GrowthWatch::taken(uint32_t name, uint32_t op, uint64_t sizeBytes) {
  change(name, op, sizeBytes, true);
}

void GrowthWatch::released(uint32_t name, uint32_t op, uint64_t sizeBytes) {
  change(name, op, sizeBytes, false);
}

void GrowthWatch::stepEnded(uint64_t timeNs) {
  ++step_;
  for (const uint32_t index : touched_) {
    Group &group = groups_[index];
    group.touched = false;
    if (group.liveBytes < group.lastBytes)
      group.growthCount = 0;
    const bool grew = group.liveBytes > group.maxBytes && step_ > kWarmUp;
    group.maxBytes = std::max(group.maxBytes, group.liveBytes);
    group.lastBytes = group.liveBytes;
    if (!grew)
      continue;
    // After this growth is stored, the next slot of the ring holds the oldest of kGrowths growths.
    const Growth oldest = group.growths[(group.growthCount + 1) % kGrowths];
    group.growths[group.growthCount % kGrowths] = {step_, group.liveBytes, timeNs};
    ++group.growthCount;
    if (group.growthCount < kGrowths || step_ - oldest.step > kWindow)
      continue;
    const double perStep = static_cast<double>(group.liveBytes - oldest.liveBytes) /
                           static_cast<double>(step_ - oldest.step);
    if (group.suspect == UINT32_MAX) {
      group.suspect = static_cast<uint32_t>(suspects_.size());
      suspects_.push_back({group.name, group.op, 0, 0, oldest.timeNs, timeNs, step_});
    }
    suspects_[group.suspect].liveBytes = group.liveBytes;
    suspects_[group.suspect].bytesPerStep = perStep;
  }
  touched_.clear();
}

} // namespace gantry::profiler

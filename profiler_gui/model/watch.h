// Watches what grows from step to step, and names it.
//
// A step ends with each run, or with a mark where there are no runs. Blocks are grouped by their
// name and by the operator or span that asked for them. A group grows when more of its bytes are
// alive at the end of a step than at the end of any step before. It is a suspect once it grew at
// kGrowths ends of the last kWindow steps and never shrank meanwhile; the first kWarmUp steps do
// not count, since caches fill in them. A steady leak in every step is named after kWarmUp +
// kGrowths steps; one in every second step after twice as many.
//
// Threads: none of its own.
#pragma once

#include "profiler_gui/model/flat_map.h"

#include <array>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

struct Suspect {
  uint32_t name = 0;
  uint32_t op = 0;
  uint64_t liveBytes = 0;
  double bytesPerStep = 0;
  uint64_t sinceNs = 0; // the first of the growths
  uint64_t namedNs = 0; // when it became a suspect
  uint32_t namedAtStep = 0;
};

class GrowthWatch {
public:
  static constexpr uint32_t kWarmUp = 4;
  static constexpr uint32_t kGrowths = 16;
  static constexpr uint32_t kWindow = 32;

  void taken(uint32_t name, uint32_t op, uint64_t sizeBytes);
  void released(uint32_t name, uint32_t op, uint64_t sizeBytes);
  void stepEnded(uint64_t timeNs);

  uint32_t steps() const { return step_; }
  const std::vector<Suspect> &suspects() const { return suspects_; }

private:
  struct Growth {
    uint32_t step = 0;
    uint64_t liveBytes = 0;
    uint64_t timeNs = 0;
  };
  struct Group {
    uint64_t liveBytes = 0;
    uint64_t mostBytes = 0; // at the end of any step
    uint64_t lastBytes = 0; // at the end of the last step that touched it
    std::array<Growth, kGrowths> growths{};
    uint32_t growthCount = 0; // since it last shrank
    uint32_t suspect = UINT32_MAX;
    uint32_t name = 0;
    uint32_t op = 0;
    bool touched = false;
  };
  void change(uint32_t name, uint32_t op, uint64_t bytes, bool taken);

  FlatMap groupOf_; // name and op → index
  std::vector<Group> groups_;
  std::vector<uint32_t> touched_;
  std::vector<Suspect> suspects_;
  uint32_t step_ = 0;
};

} // namespace gantry::profiler

// Finds suspected leaks: groups of blocks whose live bytes grow from step to step.
//
// A step ends with each run of a program or, in a capture without runs, with each mark, a moment
// that the application named. Blocks are grouped by their name and by the span (a named interval of
// a thread's work) in which they were allocated. A group grows when its live bytes at the end of a
// step exceed those at the end of every earlier step. A group becomes a suspect when it has grown
// at least kGrowths times since it last shrank, and the oldest of the last kGrowths growths was at
// most kWindow steps ago. Growth in the first kWarmUp steps does not count, because caches fill
// during them. A leak in every step is reported after kWarmUp + kGrowths steps; a leak in every
// second step is reported after about kWarmUp + 2 × kGrowths steps.
//
// Names are ids in the capture's name table. Sizes are bytes, times nanoseconds from the capture's
// start. Threads: one writer, or several readers.
#pragma once

#include "profiler_gui/model/capture/flat_map.h"

#include <array>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// A group of blocks that is suspected to leak.
struct Suspect {
  uint32_t name = 0;        // Name of the blocks.
  uint32_t op = 0;          // Name of the span in which they are allocated.
  uint64_t liveBytes = 0;   // Live bytes at the end of the last step in which the group grew.
  double bytesPerStep = 0;  // Mean growth per step since the oldest of the last kGrowths growths.
  uint64_t sinceNs = 0;     // Time of the first of the growths that made the group a suspect.
  uint64_t namedNs = 0;     // Time at which the group became a suspect.
  uint32_t namedAtStep = 0; // Number of the step that ended at namedNs, from 1.
};

class GrowthWatch {
public:
  static constexpr uint32_t kWarmUp = 4;
  static constexpr uint32_t kGrowths = 16;
  static constexpr uint32_t kWindow = 32;

  /// Records that a block was allocated (taken) or released.
  void taken(uint32_t name, uint32_t op, uint64_t sizeBytes);
  void released(uint32_t name, uint32_t op, uint64_t sizeBytes);
  /// Records that a step ended at timeNs, and looks for growth in the groups that changed during
  /// it.
  void stepEnded(uint64_t timeNs);

  /// The number of steps that have ended.
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
    uint64_t maxBytes = 0;  // Max live bytes at the end of any step.
    uint64_t lastBytes = 0; // Live bytes at the end of the last step that changed the group.
    std::array<Growth, kGrowths> growths{}; // A ring buffer of the latest growths.
    uint32_t growthCount = 0;               // Number of growths since the group last shrank.
    uint32_t suspect = UINT32_MAX;          // Index in suspects_; UINT32_MAX: none.
    uint32_t name = 0;
    uint32_t op = 0;
    bool touched = false; // Whether the group changed during the current step.
  };
  void change(uint32_t name, uint32_t op, uint64_t bytes, bool taken);

  FlatMap groupOf_; // Name and op to index in groups_.
  std::vector<Group> groups_;
  std::vector<uint32_t> touched_; // Indices of the groups that changed during the current step.
  std::vector<Suspect> suspects_;
  uint32_t step_ = 0;
};

} // namespace gantry::profiler

// What the device ran: dispatches and copies on one host time axis, in lanes.
//
// Dispatches of a device that overlap in time never hide each other: each goes into the first lane
// whose last one has ended. A lane is therefore sorted by time and free of overlaps, and what lies
// under a pixel is found by bisection.
//
// Device times are brought to the host's clock by the last clock record of the device before them;
// a dispatch without device times gets an even share of its run, and says so (estimated()).
//
// Threads: none of its own; one writer, or several readers.
#pragma once

#include "profiler_gui/model/growing_list.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

struct Dispatch {
  uint64_t beginNs = 0;
  uint64_t endNs = 0;
  uint32_t run = 0; // index in CaptureModel::runs()
  uint32_t command = 0;
  std::array<uint32_t, 3> workgroups{};
  uint32_t device = 0;      // index in CaptureModel::devices()
  uint32_t sharedBytes = 0; // of its kernel; copies have none
  uint16_t lane = 0;
  bool isCopy = false;
  bool estimated = false;
};
static_assert(sizeof(Dispatch) == 48, "a part of the 64 bytes that an event may take");

struct Lane {
  uint32_t device = 0;
  uint32_t number = 0; // of the device
  uint64_t lastEndNs = 0;
  GrowingList<uint32_t> dispatches; // ascending in time
  GrowingList<uint32_t> mostShared; // the most shared bytes of each group of kGroup of them
  GrowingList<uint64_t> begins;     // the begin of the first of each such group
  uint32_t mostSharedOfAll = 0;
};

class DispatchTable {
public:
  static constexpr size_t kGroup = 16;

  /// Chooses the lane; returns the dispatch's number.
  uint32_t append(Dispatch dispatch);
  uint32_t size() const { return static_cast<uint32_t>(dispatches_.size()); }
  const Dispatch &operator[](uint32_t index) const { return dispatches_[index]; }
  const std::vector<Lane> &lanes() const { return lanes_; }

  /// The positions in the lane of the dispatches that meet [beginNs, endNs).
  struct Range {
    uint32_t first = 0;
    uint32_t last = 0; // exclusive
  };
  Range inWindow(const Lane &lane, double beginNs, double endNs) const;
  /// The first position at or after `from` that begins at `timeNs` or later.
  uint32_t firstFrom(const Lane &lane, uint32_t from, double timeNs) const;
  /// The most shared bytes among positions of a lane.
  uint32_t mostShared(const Lane &lane, Range range) const;

  uint64_t memoryBytes() const;
  /// Gives back what was reserved for more.
  void shrink();

private:
  GrowingList<Dispatch> dispatches_;
  std::vector<Lane> lanes_;
};

} // namespace gantry::profiler

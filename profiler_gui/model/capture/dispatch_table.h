// The dispatches (kernel launches) and copies that devices executed, arranged in lanes for drawing.
// In this file, a dispatch may also be a copy.
//
// Dispatches of one device that overlap in time must not hide each other. Each dispatch goes into
// the first lane of its device whose last dispatch ends before the new one begins; a new lane is
// added if there is none (first-fit interval partitioning). A lane is therefore sorted by time and
// free of overlaps, and bisection finds the dispatches under a pixel.
//
// Times are nanoseconds of the host's clock from the capture's start. ProgramHistory converts
// device times with the device's last clock record (trace::ClockEvent, a pair of a host time and a
// device time). If the device reported no times for a dispatch, ProgramHistory estimates them: it
// divides the time from the run's begin to the latest event that was read so far equally among the
// run's commands. Such a dispatch has `estimated` set.
//
// Threads: one writer, or several readers.
#pragma once

#include "profiler_gui/model/capture/growing_list.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

struct Dispatch {
  uint64_t beginNs = 0;
  uint64_t endNs = 0;
  uint32_t run = 0;     // Index in CaptureModel::runs().
  uint32_t command = 0; // Index in the commands of the run's plan (Plan in plans.h).
  std::array<uint32_t, 3> workgroups{};
  uint32_t device = 0;      // Index in CaptureModel::devices().
  uint32_t sharedBytes = 0; // Shared memory per workgroup; 0 for copies.
  uint16_t lane = 0;        // Index in DispatchTable::lanes().
  bool isCopy = false;
  bool estimated = false; // The times are a share of the run's time, not measured.
};
static_assert(sizeof(Dispatch) == 48, "counts toward the budget of 64 bytes per event");

struct Lane {
  uint32_t device = 0; // Index in CaptureModel::devices().
  uint32_t number = 0; // The lane's number among those of its device, from 0.
  uint64_t lastEndNs = 0;
  GrowingList<uint32_t> dispatches; // Indices in the table, ascending in time.
  GrowingList<uint32_t> maxShared;  // Max shared bytes of each group of kGroup dispatches.
  GrowingList<uint64_t> begins;     // Begin time of the first dispatch of each group.
  uint32_t maxSharedOfAll = 0;      // Max shared bytes of all dispatches in the lane.
};

class DispatchTable {
public:
  static constexpr size_t kGroup = 16; // Dispatches per group in Lane::maxShared and begins.

  /// Chooses the dispatch's lane, and returns the dispatch's index. Dispatches of a device should
  /// be appended in order of begin time; a dispatch that begins before its predecessor may need an
  /// additional lane.
  uint32_t append(Dispatch dispatch);
  uint32_t size() const { return static_cast<uint32_t>(dispatches_.size()); }
  const Dispatch &operator[](uint32_t index) const { return dispatches_[index]; }
  const std::vector<Lane> &lanes() const { return lanes_; }

  /// Positions in Lane::dispatches.
  struct Range {
    uint32_t first = 0;
    uint32_t last = 0; // Exclusive.
  };
  /// The dispatches of the lane that intersect [beginNs, endNs).
  Range inWindow(const Lane &lane, double beginNs, double endNs) const;
  /// The first position, `from` or later, whose dispatch begins at `timeNs` or later; the number of
  /// dispatches in the lane if there is none.
  uint32_t firstFrom(const Lane &lane, uint32_t from, double timeNs) const;
  /// The max shared bytes of the dispatches in the range; 0 for an empty range.
  uint32_t maxShared(const Lane &lane, Range range) const;

  /// Bytes allocated by the table.
  uint64_t memoryBytes() const;
  /// Frees unused capacity.
  void shrink();

private:
  GrowingList<Dispatch> dispatches_;
  std::vector<Lane> lanes_;
};

} // namespace gantry::profiler

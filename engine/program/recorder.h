// A command list that keeps account of what its commands touch, so that plan::checkHazards can
// judge exactly what was recorded: dispatches, copies, fills and barriers.
//
// Threads: one at a time.
#pragma once

#include "engine/device/device.h"
#include "engine/plan/plan.h"

#include <map>

namespace gantry::program {

class Recorder {
public:
  explicit Recorder(device::CommandList &list) : list_(list) {}

  struct Access {
    device::BufferRange range;
    bool write;
  };
  /// One of a command's parts; accesses: all that its parts do together, with the first of them.
  Status dispatch(const device::Dispatch &dispatch, std::span<const Access> accesses);
  Status copy(const device::BufferRange &source, const device::BufferRange &target);
  Status fill(const device::BufferRange &range, uint32_t word);
  /// Two barriers in a row are one.
  Status barrier();
  Status timestamp() { return list_.timestamp(); }

  /// The judge's word on all that was recorded.
  Status checkHazards() const { return plan::checkHazards(commands_); }

private:
  void note(std::span<const Access> accesses);
  device::CommandList &list_;
  std::vector<plan::Command> commands_;
  std::map<const device::Memory *, uint32_t> spaces_;
  bool barrierPending_ = false;
};

} // namespace gantry::program

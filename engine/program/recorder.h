// Records commands into a device::CommandList and notes the memory that each command reads and
// writes, so that hazards::checkHazards() can check exactly the recorded dispatches, copies, fills
// and barriers.
//
// Ownership: the command list must outlive the recorder. Threads: a recorder is used by one thread
// at a time.
#pragma once

#include "engine/device/device.h"
#include "engine/hazards/hazards.h"

#include <map>

namespace gantry::program {

/// Records one command list and notes the accesses of its commands.
class Recorder {
public:
  explicit Recorder(device::CommandList &list) : list_(list) {}

  struct Access {
    device::BufferRange range;
    bool write;
  };
  /// Records a dispatch. If a command is split into several dispatches, the caller passes the
  /// accesses of the whole command with the first one, and no accesses with the others.
  Status dispatch(const device::Dispatch &dispatch, std::span<const Access> accesses);
  Status copy(const device::BufferRange &source, const device::BufferRange &target);
  Status fill(const device::BufferRange &range, uint32_t word);
  /// Records a barrier, unless no command was recorded since the last barrier.
  Status barrier();
  Status timestamp() { return list_.timestamp(); }

  /// Returns an error if two recorded commands conflict without a barrier between them.
  Status checkHazards() const { return hazards::checkHazards(commands_); }

private:
  void note(std::span<const Access> accesses);
  device::CommandList &list_;
  std::vector<hazards::Command> commands_;
  std::map<const device::Memory *, uint32_t> spaces_;
  bool barrierPending_ = false;
};

} // namespace gantry::program

// Records commands and notes their accesses.
#include "engine/program/recorder.h"

namespace gantry::program {

void Recorder::note(std::span<const Access> accesses) {
  hazards::Command command;
  command.barrierBefore = barrierPending_;
  barrierPending_ = false;
  for (const Access &access : accesses) {
    const auto space =
        spaces_.try_emplace(access.range.memory, static_cast<uint32_t>(spaces_.size()));
    command.accesses.push_back(
        {space.first->second, access.range.offsetBytes, access.range.sizeBytes, access.write});
  }
  commands_.push_back(std::move(command));
}

Status Recorder::dispatch(const device::Dispatch &dispatch, std::span<const Access> accesses) {
  GANTRY_RETURN_IF_ERROR(list_.dispatch(dispatch));
  if (!accesses.empty())
    note(accesses);
  return {};
}

Status Recorder::copy(const device::BufferRange &source, const device::BufferRange &target) {
  GANTRY_RETURN_IF_ERROR(list_.copy(source, *target.memory, target.offsetBytes));
  const Access accesses[] = {{source, false}, {target, true}};
  note(accesses);
  return {};
}

Status Recorder::fill(const device::BufferRange &range, uint32_t word) {
  GANTRY_RETURN_IF_ERROR(list_.fill(range, word));
  const Access accesses[] = {{range, true}};
  note(accesses);
  return {};
}

Status Recorder::barrier() {
  if (barrierPending_)
    return {};
  barrierPending_ = true;
  return list_.barrier();
}

} // namespace gantry::program

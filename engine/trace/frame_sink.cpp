#include "engine/trace/frame_sink.h"

#include "engine/trace/names.h"

namespace gantry::trace {

Status FrameSink::write(const FrameHeader &header, std::span<const uint8_t> contents) {
  GANTRY_ASSIGN_OR_RETURN(const std::span<const uint8_t> frame, packer_.pack(header, contents));
  return write_(user_, frame);
}

void FrameSink::flush() {
  if (encoder_.count() == 0)
    return;
  FrameHeader header;
  header.type = FrameType::kEvents;
  header.events = encoder_.count();
  header.firstTimeNs = encoder_.firstTimeNs();
  header.lastTimeNs = encoder_.lastTimeNs();
  const std::span<const uint8_t> chunk = encoder_.finish();
  if (!status_.isOk())
    return;
  // Whatever an event names was interned before it was recorded.
  names_.clear();
  nextName_ = copyNames(nextName_, names_);
  if (names_.count() != 0) {
    FrameHeader namesHeader;
    namesHeader.type = FrameType::kNames;
    namesHeader.events = names_.count();
    status_ = write(namesHeader, names_.bytes());
  }
  if (status_.isOk())
    status_ = write(header, chunk);
  events_ += header.events;
}

} // namespace gantry::trace

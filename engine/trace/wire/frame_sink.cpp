// Flushing of a sink, in normal operation and in a crash.
#include "engine/trace/wire/frame_sink.h"

#include "engine/base/crash.h"
#include "engine/base/out_of_memory.h"
#include "engine/trace/record/names.h"

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
  if (writeRaw_ != nullptr) {
    flushRaw(header, chunk);
    return;
  }
  // A name is interned before the first event that uses it is recorded, so the table has all names
  // of this chunk.
  names_.clear();
  nextName_ = copyNames(nextName_, names_);
  if (Status memory = checkHostMemory(); !memory.isOk()) {
    fail(std::move(memory));
    return;
  }
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

void FrameSink::flushRaw(const FrameHeader &header, std::span<const uint8_t> chunk) {
  auto send = [&](const FrameHeader &described, std::span<const uint8_t> contents) {
    const FrameHeader whole = makeRawHeader(described, contents);
    writeRaw_(rawUser_, {reinterpret_cast<const uint8_t *>(&whole), sizeof(whole)});
    writeRaw_(rawUser_, contents);
  };
  // Other threads hold the table's lock only for moments. The crashed thread may hold it forever,
  // so the number of tries is limited.
  constexpr uint32_t kTries = 50;
  constexpr uint64_t kPauseNs = 1'000'000;
  for (uint32_t tries = 0; tries < kTries;) {
    names_.clear();
    if (!tryCopyNames(&nextName_, names_)) {
      tries += 1;
      sleepInCrash(kPauseNs);
      continue;
    }
    if (names_.count() == 0)
      break;
    FrameHeader namesHeader;
    namesHeader.type = FrameType::kNames;
    namesHeader.events = names_.count();
    send(namesHeader, names_.bytes());
  }
  send(header, chunk);
  events_ += header.events;
}

} // namespace gantry::trace

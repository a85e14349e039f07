// forEachEvent(): visits every event of a capture.
//
// Some exports read a capture twice, because an event may refer to a later definition.
//
// Thread safety: one thread at a time per reader.
#pragma once

#include "engine/trace/wire/capture.h"

namespace gantry::trace {

/// Calls visit(const Event &) for every event, from the first chunk of the file to the end of the
/// file. The reader must read a file, not a live process. Returns the reader's failure if there is
/// one.
template <typename Visit> Status forEachEvent(CaptureReader &reader, const Visit &visit) {
  GANTRY_RETURN_IF_ERROR(reader.seek(0));
  for (bool end = false; !end;) {
    GANTRY_ASSIGN_OR_RETURN(const Batch batch, reader.read());
    for (const Event &event : batch.events)
      visit(event);
    end = batch.end;
  }
  return {};
}

} // namespace gantry::trace

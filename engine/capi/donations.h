// Remembers which buffers were donated to runs (gantry_run_donate gives a buffer up to a run), so
// that the error for a later use of such a buffer names the run that took it.
//
// A donated buffer has no reference left, so the heap finds that its handle is stale: it refers to
// no buffer any more. The records are searched for stale handles only, so uses of live buffers cost
// nothing. The records of the last 512 donations of the process are kept, in static memory; older
// handles are still refused, with a message that does not name the run.
//
// Threads: any; a lock protects the records.
#pragma once

#include "engine/heap/types.h"

#include <string>

namespace gantry::capi {

/// Records that the buffer `name` was donated to a run, such as "run 3 of program 'resnet'".
/// Allocates nothing.
void noteDonation(heap::BufferHandle buffer, const char *name, const std::string &run);

/// Returns the error for the use of a handle that is stale: kInvalidArgument with the donation, or
/// with the words "the buffer was already released".
Status staleBuffer(heap::BufferHandle buffer);

} // namespace gantry::capi

// Traces that environment variables start: GANTRY_TRACE=FILE records the process.
// GANTRY_FLIGHT_RECORDER=FILE keeps the last GANTRY_FLIGHT_SECONDS and writes them after a crash.
// Unless GANTRY_ATTACH is 0, viewers of the same user may attach.
//
// Threads: any.
#pragma once

namespace gantry::capi {

/// Starts the traces on the first call in a process, which opens the first device. Failures are
/// logged, because no caller asked for the traces.
void startTracesFromEnvironment();

} // namespace gantry::capi

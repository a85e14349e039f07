// Starts the traces that environment variables request. GANTRY_TRACE=FILE records the process to a
// file. GANTRY_FLIGHT_RECORDER=FILE keeps the events of the last GANTRY_FLIGHT_SECONDS seconds and
// writes them to a file after a crash. Unless GANTRY_ATTACH is 0, viewers (gantry-profiler) of the
// same user may attach and receive the trace.
//
// Threads: any.
#pragma once

namespace gantry::capi {

/// Starts the traces at the first call in a process; later calls do nothing. gantry_device_create()
/// calls this function. Failures are logged, because the caller did not request the traces.
void startTracesFromEnvironment();

} // namespace gantry::capi

// What the environment asks of traces: GANTRY_TRACE=FILE records the process;
// GANTRY_FLIGHT_RECORDER=FILE keeps its last GANTRY_FLIGHT_SECONDS for a crash; viewers of the user
// may attach, unless GANTRY_ATTACH=0.
//
// Threads: any.
#pragma once

namespace gantry::capi {

/// Once in a process, when it opens its first device. What fails is logged: nobody asked here.
void startTracesFromEnvironment();

} // namespace gantry::capi

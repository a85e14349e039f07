// Facts about the process for the ProcessEvent of a capture (events.h).
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

namespace gantry::trace {

/// Returns the file name of the executable without its folder; "" if it is unknown.
std::string executableName();
/// Returns the command line, the program's name included: arguments joined by spaces, up to 4096
/// bytes.
std::string commandLine();
/// Returns the library's name and version, such as "gantry 0.1.0".
std::string producerName();
/// Returns the nanoseconds since 1970-01-01 UTC.
uint64_t wallClockNs();

} // namespace gantry::trace

// What a capture says of the process itself.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

namespace gantry::trace {

std::string executableName(); // without its folder
std::string commandLine();    // joined by spaces
std::string producerName();   // "gantry 0.1.0"
uint64_t wallClockNs();       // since 1970

} // namespace gantry::trace

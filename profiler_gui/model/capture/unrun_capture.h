// Shows an artifact that was never run, as the capture that running it would leave.
//
// The capture has one session, plan and run for each variant of the kernels, one after the other.
// The window then shows each variant's arena and shared memory next to the limits of the device
// profile that the artifact was compiled for.
//
// Run times are unknown, so every command gets kUnrunCommandNs. The sizes of a dynamic model are
// those of the largest inputs if they are bounded, else of the smallest. If the compiler could not
// plan the arena because sizes were unknown, it is planned here.
//
// Threads: a pure function.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/wire/capture.h"

#include <string>
#include <vector>

namespace gantry::profiler {

/// The invented events, in order of time, and the names that they use.
struct UnrunCapture {
  trace::NameTable names;
  std::vector<trace::Event> events;
};

/// The invented duration of one command.
inline constexpr uint64_t kUnrunCommandNs = 10'000;

/// Opens the artifact at `path`. Errors: those of Artifact::open(), evaluateExprs() and
/// planArena().
Result<UnrunCapture> openUnrun(const std::string &path);

} // namespace gantry::profiler

// An artifact that was not run, as the capture it would leave: one session, plan and run for each
// way its kernels were generated, one after the other, so that the window shows each variant's
// arena and shared memory beside the limit of the device profile that it was compiled for.
//
// Nobody knows how long its commands take; each gets 10 µs. The sizes of dynamic models are those
// of the largest inputs where these are bounded, else of the smallest; their arenas are planned
// here.
//
// Threads: pure function. Errors: those of Artifact::open, evaluateExprs and planArena.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/capture.h"

#include <string>
#include <vector>

namespace gantry::profiler {

struct UnrunCapture {
  trace::NameTable names;
  std::vector<trace::Event> events;
};

inline constexpr uint64_t kUnrunCommandNs = 10'000;

Result<UnrunCapture> openUnrun(const std::string &path);

} // namespace gantry::profiler

// Makes a capture from an artifact (a compiled model, .gantry) that was never run, so that the
// profiler can show the artifact. The artifact has a list of variants of each kernel, for example
// one variant for each way of binding buffers. The events of the capture are invented: for each
// position in these lists they describe a session (a program that is bound to a device), a memory
// plan and a run. In this run, each kernel uses its variant at that position, or its last variant
// if it has fewer. The runs follow each other.
//
// The window then shows, for each position, the arena (the memory in which the plan places the
// program's transient values) and the shared memory, next to the limits of the device profile that
// the artifact was compiled for.
//
// Run times are unknown, so every command gets kUnrunCommandNs. Each symbolic size of a dynamic
// model gets its max value if it has one, else its min value, but at least 1. If the compiler could
// not plan the arena because sizes were unknown, openUnrun() plans it.
//
// Threads: openUnrun() may be called on any thread.
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
/// planSlots(); kDataLoss if a value lies outside of its storage.
Result<UnrunCapture> openUnrun(const std::string &path);

} // namespace gantry::profiler

// Generates captures of a synthetic training loop without a device, for tests of the profiler and
// of exports of captures (engine/trace/export).
//
// The loop has a heap with slabs and a first-fit allocator, constants, and a session whose plan
// engine/plan computes. Each step runs the session once; the times of dispatches are on the
// device's clock. Each step also allocates an output, small scratch blocks and a batch; the batch
// is donated to the run. Each of the first three steps also allocates a block of a cache, which is
// never freed. The capture depends on the options only, including the seed.
//
// A fault changes the capture as a defect of the runtime or of the application would. expectedOp
// names the operator or the span (a named period of host code) that a viewer must report as the
// cause.
#pragma once

#include "engine/plan/random.h"
#include "engine/trace/wire/capture.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gantry::test {

/// Faults. kLeak applies to every step, the others to the middle step.
enum class Fault : uint8_t {
  kNone,
  kOffsetShifted, // A transient lies at another offset than planned, beyond the arena's end.
  kLateFree,      // The donated batch is freed one run too late.
  kLeak,          // A block is never freed.
  kOversize,      // The output's block is larger than the output.
  kIllegalAlias,  // Two transients that are alive together share bytes.
  kDonationKept,  // The donated batch is never freed.
};

struct SyntheticOptions {
  uint64_t seed = 1;
  uint32_t steps = 12;
  uint32_t layers = 14;
  uint32_t scratchPerStep = 60; // Small blocks that each step allocates and frees before its run.
  /// Whether the dispatches that compute weight gradients form a second stream, in which each runs
  /// during the dispatch before it.
  bool twoStreams = true;
  Fault fault = Fault::kNone;
  uint64_t leakBytes = 4096; // Bytes leaked per step, with kLeak.
  /// Additional time before the first allocation, in ns. If it is not 0, there is also a heap
  /// without blocks.
  uint64_t quietNs = 0;
};

struct SyntheticCapture {
  trace::NameTable names;
  std::vector<trace::Event> events;
  std::string expectedOp; // The operator or span that causes the fault; "" without a fault.
  uint64_t liveBytesAtEnd = 0;

  /// Writes the capture to a file.
  Status save(const std::string &path) const;
};

SyntheticCapture makeSyntheticCapture(const SyntheticOptions &options);

} // namespace gantry::test

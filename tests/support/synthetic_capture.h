// Captures of a synthetic training loop, made without a device, for tests of the profiler.
//
// The loop has a heap with slabs and a first-fit allocator over them; constants; a session whose
// plan comes from engine/plan, which runs once per step with its dispatches timed on a device's own
// clock; a batch that is donated to each run; an output; a cache that is filled in the first steps;
// and small scratch blocks. The capture depends on the options only, including the seed.
//
// A fault is written into the capture as the runtime would record it. expectedOp names the operator
// that a viewer must blame for it.
#pragma once

#include "engine/plan/random.h"
#include "engine/trace/wire/capture.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gantry::test {

enum class Fault : uint8_t {
  kNone,
  kOffsetShifted,
  kLateFree,
  kLeak,
  kOversize,
  kIllegalAlias,
  kDonationKept,
};

struct SyntheticOptions {
  uint64_t seed = 1;
  uint32_t steps = 12;
  uint32_t layers = 14;
  uint32_t scratchPerStep = 60; // Small blocks of the host loop.
  bool twoStreams = true;       // Weight gradients overlap with the main chain.
  Fault fault = Fault::kNone;
  uint64_t leakBytes = 4096; // Bytes leaked per step, with kLeak.
  /// Time before the first allocation, in ns. Where it is not 0, there is also an empty heap.
  uint64_t quietNs = 0;
};

struct SyntheticCapture {
  trace::NameTable names;
  std::vector<trace::Event> events;
  std::string expectedOp; // The operator that the fault belongs to.
  uint64_t liveBytesAtEnd = 0;

  Status save(const std::string &path) const;
};

SyntheticCapture makeSyntheticCapture(const SyntheticOptions &options);

} // namespace gantry::test

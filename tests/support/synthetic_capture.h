// Captures as a training loop would leave them, made without a device: for the profiler's tests and
// pictures.
//
// A heap with slabs and a first-fit allocator over them; constants; a session whose plan comes from
// engine/plan, run once a step with the times of its dispatches on a device's own clock; a batch
// that is donated to each run, an output, a cache that is filled in the first steps, and small
// scratch blocks. Everything follows from the options, the seed included.
//
// Faults go into the capture as the runtime would record them, and expectedOp names the operator
// that a viewer must blame.
#pragma once

#include "engine/plan/random.h"
#include "engine/trace/capture.h"

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
  uint32_t scratchPerStep = 60; // small blocks of the host loop
  bool twoStreams = true;       // weight gradients overlap with the main chain
  Fault fault = Fault::kNone;
  uint64_t leakBytes = 4096; // a step, with kLeak
  uint64_t quietNs = 0;      // before anything has memory; then there is a heap without any, too
};

struct SyntheticCapture {
  trace::NameTable names;
  std::vector<trace::Event> events;
  std::string expectedOp; // of the fault
  uint64_t liveBytesAtEnd = 0;

  Status save(const std::string &path) const;
};

SyntheticCapture makeSyntheticCapture(const SyntheticOptions &options);

} // namespace gantry::test

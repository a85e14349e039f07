// Allocation traces: read from files, or generated where there are none.
//
// A trace is text, one operation a line: `a ID SIZE ALIGNMENT` and `f ID`; lines that begin with #
// say where it is from. Files ending in .zst are decompressed. After reading, ids are dense, so
// that a replay needs one array; an id that is allocated twice while alive, or freed while it is
// not, is an error with its line.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::bench {

struct TraceOp {
  uint64_t sizeBytes = 0; // 0: free
  uint32_t slot = 0;      // reused after a free
  uint32_t alignment = 1;
};

struct Trace {
  std::string name;
  std::vector<TraceOp> ops;
  uint32_t slots = 0;         // at most so many alive at once
  uint64_t peakLiveBytes = 0; // sum of sizes as asked for
};

Result<Trace> readTrace(const std::string &path);
Result<Trace> parseTrace(const std::string &name, const std::string &text);

/// The operations with sizes up to limitBytes, and their frees.
Trace upTo(const Trace &trace, uint64_t limitBytes);

/// Traces of the same kinds as the recorded ones, from a seed: small and wide random sizes,
/// training steps of fixed and varying length, frames, and phases of churn.
std::vector<Trace> generateTraces(uint64_t seed);

} // namespace gantry::bench

// Allocation traces, which are read from files or generated.
//
// A trace file is text with one operation per line: `a ID SIZE ALIGNMENT` allocates SIZE bytes
// under the number ID, `f ID` frees them. Lines that begin with # are comments. Files whose name
// ends in .zst are decompressed. A trace in memory has slots in place of the ids: small numbers
// that are used again after a free, so that a replay needs one array.
//
// Units: bytes. Errors: kDataLoss, with the line, if a line is not an operation, an id is allocated
// again before it is freed, or an id is freed that is not allocated; and those of
// MappedFile::open().
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::bench {

struct TraceOp {
  uint64_t sizeBytes = 0; // 0: the operation frees the slot
  uint32_t slot = 0;
  uint32_t alignment = 1;
};

struct Trace {
  std::string name;
  std::vector<TraceOp> ops;
  uint32_t slots = 0;         // Number of slots: the maximum number of live allocations.
  uint64_t peakLiveBytes = 0; // Maximum of the sum of live sizes.
};

/// Reads a trace file. The trace's name is the file's name up to the first dot.
Result<Trace> readTrace(const std::string &path);
/// Parses the text of a trace file.
Result<Trace> parseTrace(const std::string &name, const std::string &text);

/// Generates six traces from a seed: small random sizes, random sizes over a wide range, training
/// steps of fixed and of varying size, rendered frames, and phases with growing sizes.
std::vector<Trace> generateTraces(uint64_t seed);

} // namespace gantry::bench

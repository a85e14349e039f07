// Generates random blocks as a heap would have them, for the tests of the profiler's model: no two
// blocks overlap in time × address, lives range from very short to endless, and sizes from tiny to
// a large part of the address space.
#pragma once

#include "profiler_gui/model/capture/block_table.h"

#include <cstdint>

namespace gantry::profiler {

struct RandomBlocks {
  BlockTable table;
  uint64_t spanNs = 0;
  uint64_t sizeBytes = 0; // Size of the address space.
};

/// Generates `count` blocks from a seed; the same seed gives the same blocks. Some are not
/// released.
RandomBlocks makeRandomBlocks(uint64_t seed, uint32_t count);

} // namespace gantry::profiler

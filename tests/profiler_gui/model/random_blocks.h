// Generates random blocks for the tests of the profiler's model. As in a heap, no two blocks
// overlap in time × address. Lifetimes range from very short to endless, sizes from 1 byte to about
// 1 MiB.
#pragma once

#include "profiler_gui/model/capture/block_table.h"

#include <cstdint>

namespace gantry::profiler {

struct RandomBlocks {
  BlockTable table;
  uint64_t spanNs = 0; // All begin times, and the end times of released blocks, are at most this.
  uint64_t sizeBytes = 0; // Size of the address space.
};

/// Generates `count` blocks from a seed; the same seed gives the same blocks. Some blocks are not
/// released.
RandomBlocks makeRandomBlocks(uint64_t seed, uint32_t count);

} // namespace gantry::profiler

// Blocks as a heap would hold them: no two overlap, lives from very short to endless, sizes from
// tiny to a large share of the space. For the tests of the profiler's model.
#pragma once

#include "profiler_gui/model/block_table.h"

#include <cstdint>

namespace gantry::profiler {

struct RandomBlocks {
  BlockTable table;
  uint64_t spanNs = 0;
  uint64_t sizeBytes = 0; // of the address space
};

/// `count` blocks. Some are still held at the end.
RandomBlocks makeRandomBlocks(uint64_t seed, uint32_t count);

} // namespace gantry::profiler

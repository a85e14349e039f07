// Implements makeRandomBlocks().
#include "tests/profiler_gui/model/random_blocks.h"

#include "engine/plan/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gantry::profiler {

RandomBlocks makeRandomBlocks(uint64_t seed, uint32_t count) {
  plan::Random random(seed);
  RandomBlocks made;
  // The address space is cut into ranges, and each range is used by one block after another. Blocks
  // therefore never overlap in time × address.
  struct Column {
    uint64_t offset, sizeBytes, freeNs;
  };
  std::vector<Column> columns;
  const uint32_t wanted = std::max(4u, static_cast<uint32_t>(std::sqrt(count)));
  for (uint32_t i = 0; i < wanted; ++i) {
    const uint64_t size = 256 * (1 + static_cast<uint64_t>(std::exp2(random.unit() * 12)));
    columns.push_back({made.sizeBytes, size, random.below(1000)});
    made.sizeBytes += size;
  }
  made.table.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    Column &column = columns[random.below(columns.size())];
    Block block;
    block.beginNs = column.freeNs;
    block.endNs = block.beginNs + 1 + static_cast<uint64_t>(std::exp2(random.unit() * 20));
    block.sizeBytes = 1 + random.below(column.sizeBytes);
    block.offset = column.offset + random.below(column.sizeBytes - block.sizeBytes + 1);
    block.hue = static_cast<BlockKind>(random.below(kBlockKinds));
    block.name = i + 1;
    column.freeNs = block.endNs + random.below(2000);
    made.spanNs = std::max(made.spanNs, block.endNs);
    made.table.append(block);
  }
  // The last blocks of some ranges are never released.
  std::vector<bool> last(columns.size(), true);
  for (uint32_t row = count; row-- > 0;) {
    const auto column =
        std::upper_bound(columns.begin(), columns.end(), made.table.offset(row),
                         [](uint64_t offset, const Column &c) { return offset < c.offset; }) -
        columns.begin() - 1;
    if (last[column] && column % 3 == 0)
      made.table.close(row, kStillHeld);
    last[column] = false;
  }
  return made;
}

} // namespace gantry::profiler

// Tests BlockIndex, which finds the blocks in a window of time × address, against linear scans over
// random blocks.
#include "profiler_gui/model/index/block_index.h"

#include "engine/plan/random.h"
#include "tests/profiler_gui/model/random_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <vector>

namespace gantry::profiler {
namespace {

struct Collect {
  std::vector<uint32_t> rows;
  bool enter(const BlockIndex::Node &) const { return true; }
  void block(uint32_t row) { rows.push_back(row); }
};

std::vector<uint32_t> sorted(std::vector<uint32_t> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Returns the rows of the blocks that contain an address at a time, by a linear scan.
std::vector<uint32_t> bruteForce(const BlockTable &table, uint64_t timeNs, uint64_t address) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < table.size(); ++row) {
    const Block block = table.at(row);
    if (block.beginNs <= timeNs && timeNs < block.endNs && block.offset <= address &&
        address < block.endOffset())
      rows.push_back(row);
  }
  return rows;
}

void expectPointQueriesEqualALinearScan(const BlockTable &table, const BlockIndex &index,
                                        const RandomBlocks &blocks, plan::Random &random,
                                        int points) {
  int hits = 0;
  for (int i = 0; i < points; ++i) {
    const uint64_t time = random.below(blocks.spanNs + blocks.spanNs / 10);
    const uint64_t address = random.below(blocks.sizeBytes);
    const std::vector<uint32_t> found = index.at(table, time, address);
    ASSERT_EQ(sorted(found), bruteForce(table, time, address)) << time << " ns, " << address;
    hits += found.empty() ? 0 : 1;
  }
  EXPECT_GT(hits, points / 20) << "too few of the random points are in a block";
}

TEST(BlockIndex, PointQueriesEqualALinearScanAtTenThousandPoints) {
  const uint64_t seed = 20261121;
  std::cout << "seed " << seed << '\n';
  RandomBlocks blocks = makeRandomBlocks(seed, 20000);
  BlockIndex index;
  index.rebuild(blocks.table);
  plan::Random random(seed + 1);
  expectPointQueriesEqualALinearScan(blocks.table, index, blocks, random, 10000);
}

TEST(BlockIndex, RebuildKeepsEveryBlock) {
  RandomBlocks blocks = makeRandomBlocks(7, 5000);
  std::vector<std::pair<uint32_t, uint64_t>> before;
  for (uint32_t row = 0; row < blocks.table.size(); ++row)
    before.emplace_back(blocks.table.name(row), blocks.table.offset(row));
  BlockIndex index;
  index.rebuild(blocks.table);
  std::vector<std::pair<uint32_t, uint64_t>> after;
  for (uint32_t row = 0; row < blocks.table.size(); ++row)
    after.emplace_back(blocks.table.name(row), blocks.table.offset(row));
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(before, after);
}

TEST(BlockIndex, LiveBlocksAreFoundWhileBlocksAreAddedAndReleased) {
  const uint64_t seed = 99;
  std::cout << "seed " << seed << '\n';
  const RandomBlocks blocks = makeRandomBlocks(seed, 30000);
  std::vector<uint32_t> byBegin(blocks.table.size());
  for (uint32_t row = 0; row < byBegin.size(); ++row)
    byBegin[row] = row;
  std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
    return blocks.table.beginNs(a) < blocks.table.beginNs(b);
  });
  BlockTable table;
  BlockIndex index;
  plan::Random random(seed + 1);
  uint32_t closed = 0;
  for (uint32_t i = 0; i < byBegin.size(); ++i) {
    Block block = blocks.table.at(byBegin[i]);
    block.endNs = kStillHeld;
    table.append(block);
    index.update(table);
    // Some blocks end long after they were added to a tree of the index, others immediately.
    if (i % 3 != 0)
      continue;
    for (; closed + 6000 < i || (closed < i && random.below(4) == 0); ++closed)
      table.close(closed, blocks.table.endNs(byBegin[closed]));
    if (i % 3000 == 0 && i > 0)
      expectPointQueriesEqualALinearScan(table, index, blocks, random, 200);
  }
  EXPECT_GT(index.runs().size(), 0u);
}

TEST(BlockIndex, APointQueryFindsOverlappingBlocksLatestFirst) {
  BlockTable table;
  table.append({0, 100, 0, 100, 1, 0, 0, BlockKind::kTransient});
  table.append({40, 60, 50, 100, 2, 0, 0, BlockKind::kTransient});
  BlockIndex index;
  index.rebuild(table);
  const std::vector<uint32_t> rows = index.at(table, 50, 60);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(table.name(rows[0]), 2u);
  EXPECT_EQ(table.name(rows[1]), 1u);
}

TEST(BlockIndex, AWindowQueryFindsTheBlocksThatIntersectIt) {
  RandomBlocks blocks = makeRandomBlocks(3, 4000);
  BlockIndex index;
  index.rebuild(blocks.table);
  plan::Random random(4);
  for (int i = 0; i < 200; ++i) {
    const uint64_t begin = random.below(blocks.spanNs);
    const uint64_t low = random.below(blocks.sizeBytes);
    const Window window{begin, begin + 1 + random.below(blocks.spanNs / 10), low,
                        low + 1 + random.below(blocks.sizeBytes / 10)};
    Collect found;
    index.visit(blocks.table, window, found);
    std::vector<uint32_t> expected;
    for (uint32_t row = 0; row < blocks.table.size(); ++row) {
      const Block block = blocks.table.at(row);
      if (block.beginNs < window.endNs && block.endNs > window.beginNs &&
          block.offset < window.highAddress && block.endOffset() > window.lowAddress)
        expected.push_back(row);
    }
    ASSERT_EQ(sorted(found.rows), expected);
  }
}

TEST(BlockIndex, TakesLessThanSixtyFourBytesPerEvent) {
  RandomBlocks blocks = makeRandomBlocks(5, 100000);
  BlockIndex index;
  index.rebuild(blocks.table);
  const double perEvent = static_cast<double>(blocks.table.memoryBytes() + index.memoryBytes()) /
                          (2.0 * blocks.table.size());
  EXPECT_LT(perEvent, 64.0);
}

} // namespace
} // namespace gantry::profiler

// Tests LevelOfDetail, which draws large blocks as rectangles and all others in a raster, and
// DensityGrid, the raster: the bytes × time that are shown equal those of the blocks.
#include "profiler_gui/model/index/level_of_detail.h"

#include "engine/plan/random.h"
#include "tests/profiler_gui/model/random_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace gantry::profiler {
namespace {

/// Returns the bytes × ns of all blocks inside the view, by a linear scan.
double exactByteNs(const BlockTable &table, const SpaceView &view, uint64_t nowNs) {
  double sum = 0;
  for (uint32_t row = 0; row < table.size(); ++row) {
    const double begin = std::max(static_cast<double>(table.beginNs(row)), view.beginNs);
    const double end = std::min(static_cast<double>(std::min(table.endNs(row), nowNs)), view.endNs);
    const double low = std::max(static_cast<double>(table.offset(row)), view.lowAddress);
    const double high =
        std::min(static_cast<double>(table.offset(row) + table.sizeBytes(row)), view.highAddress);
    if (end > begin && high > low)
      sum += (end - begin) * (high - low);
  }
  return sum;
}

/// Returns a random view that covers at least 1/256 of the time and 1/64 of the addresses.
SpaceView randomView(const RandomBlocks &blocks, plan::Random &random) {
  const double span = static_cast<double>(blocks.spanNs) / std::exp2(random.unit() * 8);
  const double bytes = static_cast<double>(blocks.sizeBytes) / std::exp2(random.unit() * 6);
  SpaceView view;
  view.beginNs = random.unit() * (static_cast<double>(blocks.spanNs) - span);
  view.endNs = view.beginNs + span;
  view.lowAddress = random.unit() * (static_cast<double>(blocks.sizeBytes) - bytes);
  view.highAddress = view.lowAddress + bytes;
  view.widthPixels = 400 + random.below(1200);
  view.heightPixels = 300 + random.below(600);
  return view;
}

TEST(LevelOfDetail, ShowsAllBytesTimesTimeInAThousandRandomViews) {
  const uint64_t seed = 4711;
  std::cout << "seed " << seed << '\n';
  RandomBlocks blocks = makeRandomBlocks(seed, 60000);
  BlockIndex index;
  index.rebuild(blocks.table);
  plan::Random random(seed + 1);
  LevelOfDetail detail;
  double worst = 0;
  double rectangles = 0;
  for (int i = 0; i < 1000; ++i) {
    const SpaceView view = randomView(blocks, random);
    detail.refine(blocks.table, index, view, blocks.spanNs, 0);
    ASSERT_TRUE(detail.complete());
    const double exact = exactByteNs(blocks.table, view, blocks.spanNs);
    const double shown = detail.shownByteNs(blocks.table, view, blocks.spanNs);
    ASSERT_NEAR(shown, exact, 0.01 * exact)
        << "view " << i << ": [" << view.beginNs << ", " << view.endNs << ") ns, ["
        << view.lowAddress << ", " << view.highAddress << ") B";
    worst = exact > 0 ? std::max(worst, std::abs(shown - exact) / exact) : worst;
    rectangles += static_cast<double>(detail.exact().size());
  }
  std::cout << "largest difference " << 100 * worst << " %, " << rectangles / 1000
            << " rectangles per view\n";
}

TEST(LevelOfDetail, ShowsAnEstimateUntilTheRasterIsComplete) {
  RandomBlocks blocks = makeRandomBlocks(12, 200000);
  for (uint32_t row = 0; row < blocks.table.size(); ++row)
    blocks.table.close(row, std::min(blocks.table.endNs(row), blocks.spanNs));
  BlockIndex index;
  index.rebuild(blocks.table);
  const SpaceView view{
      0, static_cast<double>(blocks.spanNs), 0, static_cast<double>(blocks.sizeBytes), 1600, 500};
  LevelOfDetail detail;
  detail.refine(blocks.table, index, view, blocks.spanNs, 20000);
  ASSERT_FALSE(detail.complete());
  const double exact = exactByteNs(blocks.table, view, blocks.spanNs);
  EXPECT_NEAR(detail.shownByteNs(blocks.table, view, blocks.spanNs), exact, 0.1 * exact);
  const uint64_t revision = detail.revision();
  int calls = 0;
  while (!detail.complete()) {
    detail.refine(blocks.table, index, view, blocks.spanNs, 20000);
    ASSERT_LT(++calls, 1000);
  }
  EXPECT_GT(detail.revision(), revision);
  EXPECT_NEAR(detail.shownByteNs(blocks.table, view, blocks.spanNs), exact, 0.001 * exact);
}

TEST(LevelOfDetail, PanningInsideTheRasterKeepsIt) {
  RandomBlocks blocks = makeRandomBlocks(13, 5000);
  BlockIndex index;
  index.rebuild(blocks.table);
  const double span = static_cast<double>(blocks.spanNs) / 4;
  SpaceView view{span, 2 * span, 0, static_cast<double>(blocks.sizeBytes), 800, 300};
  LevelOfDetail detail;
  detail.refine(blocks.table, index, view, blocks.spanNs, 0);
  const uint64_t revision = detail.revision();
  view.beginNs += span / 50;
  view.endNs += span / 50;
  detail.refine(blocks.table, index, view, blocks.spanNs, 0);
  EXPECT_EQ(detail.revision(), revision);
  view.beginNs += span;
  view.endNs += span;
  detail.refine(blocks.table, index, view, blocks.spanNs, 0);
  EXPECT_GT(detail.revision(), revision);
}

TEST(LevelOfDetail, FollowsBlocksThatAreAddedAndReleased) {
  BlockTable table;
  BlockIndex index;
  LevelOfDetail detail;
  const SpaceView view{0, 1000, 0, 1000, 100, 100};
  table.append({100, kStillHeld, 0, 500, 0, 0, 0, BlockKind::kTransient});
  index.update(table);
  detail.refine(table, index, view, 400, 0);
  EXPECT_NEAR(detail.shownByteNs(table, view, 400), 300 * 500.0, 1);
  table.append({400, kStillHeld, 500, 3, 0, 0, 0, BlockKind::kInput}); // Too flat for a rectangle.
  index.update(table);
  detail.refine(table, index, view, 800, 0);
  EXPECT_NEAR(detail.shownByteNs(table, view, 800), 700 * 500.0 + 400 * 3.0, 1);
}

TEST(DensityGrid, ARectangleOverManyCellsKeepsItsArea) {
  plan::Random random(21);
  for (int i = 0; i < 200; ++i) {
    DensityGrid grid({3, 4, 5, 2, 40, 30});
    const uint64_t begin = 40 + random.below(320);
    const uint64_t end = begin + 1 + random.below(360 - begin);
    const uint64_t low = 32 + random.below(480);
    const uint64_t high = low + 1 + random.below(512 - low);
    grid.add(BlockKind::kInput, begin, end, low, high);
    grid.finish();
    EXPECT_NEAR(grid.byteNs(BlockKind::kInput, 0, 1000, 0, 1000),
                static_cast<double>((end - begin) * (high - low)), 1e-2 * 8 * 16);
    for (uint32_t row = 0; row < 30; ++row) {
      for (uint32_t column = 0; column < 40; ++column)
        ASSERT_LE(grid.coverage(BlockKind::kInput, column, row), 1.0f + 1e-5f);
    }
  }
}

} // namespace
} // namespace gantry::profiler

// Tests the queries that plots make for each pixel column against loops over all items: StepCurve,
// DispatchTable and HostRow.
#include "profiler_gui/model/capture/capture_model.h"

#include "engine/plan/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <vector>

namespace gantry::profiler {
namespace {

constexpr uint64_t kPlotSeed = 20261121;

TEST(StepCurve, RangesOfColumnsEqualALoopOverAllSteps) {
  std::cout << "seed " << kPlotSeed << '\n';
  plan::Random random(kPlotSeed);
  for (const uint32_t steps : {0u, 1u, 63u, 64u, 65u, 1000u, 20000u}) {
    StepCurve curve;
    std::vector<std::pair<uint64_t, uint64_t>> all;
    uint64_t now = random.below(100);
    for (uint32_t i = 0; i < steps; ++i) {
      all.emplace_back(now, random.below(1u << 20));
      curve.append(all.back().first, all.back().second);
      now += random.below(4) == 0 ? 0 : random.below(50); // Some steps have the same time.
    }
    for (int view = 0; view < 20; ++view) {
      std::vector<uint64_t> bounds;
      const uint64_t width = 1 + random.below(1 + now / 8);
      for (uint64_t at = random.below(now + 1), i = 0; i < 60; ++i, at += random.below(width + 1))
        bounds.push_back(at);
      std::vector<ValueRange> found;
      curve.ranges(bounds, &found);
      ASSERT_EQ(found.size() + 1, bounds.size());
      for (size_t i = 0; i < found.size(); ++i) {
        ValueRange expected{0, 0};
        for (const auto &[time, value] : all) {
          if (time <= bounds[i])
            expected = {value, value};
        }
        for (const auto &[time, value] : all) {
          if (time > bounds[i] && time < bounds[i + 1])
            expected = {std::min(expected.low, value), std::max(expected.high, value)};
        }
        ASSERT_EQ(found[i].low, expected.low) << steps << " steps, column " << i;
        ASSERT_EQ(found[i].high, expected.high) << steps << " steps, column " << i;
        const ValueRange alone = curve.range(bounds[i], bounds[i + 1]);
        ASSERT_EQ(alone.low, expected.low);
        ASSERT_EQ(alone.high, expected.high);
      }
    }
  }
}

// The step that begins a new level of the pyramid has a large value, which must not be part of the
// ranges before it.
TEST(StepCurve, GroupsBeforeANewLevelDoNotContainItsFirstStep) {
  for (const uint64_t steps : {16u, 256u, 4096u}) {
    StepCurve curve;
    for (uint64_t time = 1; time <= steps; ++time)
      curve.append(time, 1);
    curve.append(steps + 1, 1000);
    EXPECT_EQ(curve.range(0, steps + 1).high, 1u) << steps << " steps";
    EXPECT_EQ(curve.range(0, steps + 2).high, 1000u) << steps << " steps";
  }
}

TEST(StepCurve, ShrinkingFreesUnusedCapacity) {
  StepCurve curve;
  for (uint64_t i = 0; i < 70000; ++i)
    curve.append(i, i % 1000);
  const uint64_t before = curve.memoryBytes();
  curve.shrink();
  EXPECT_LT(curve.memoryBytes(), before);
  // 16 bytes per step, plus the pyramid and the sampled times (step_curve.h).
  EXPECT_LE(curve.memoryBytes(), 70000 * 18u);
  EXPECT_EQ(curve.range(0, 70000).high, 999u);
}

TEST(DispatchTable, WindowsAndMaxSharedEqualALoopOverAll) {
  std::cout << "seed " << kPlotSeed << '\n';
  plan::Random random(kPlotSeed);
  DispatchTable table;
  uint64_t now = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    Dispatch dispatch;
    dispatch.beginNs = now;
    dispatch.endNs = now + 1 + random.below(40);
    dispatch.sharedBytes = random.below(48) * 1024;
    now = random.below(5) == 0 ? dispatch.beginNs + 1 : dispatch.endNs + random.below(20);
    table.append(dispatch);
  }
  for (const Lane &lane : table.lanes()) {
    uint32_t all = 0;
    for (const uint32_t index : lane.dispatches)
      all = std::max(all, table[index].sharedBytes);
    EXPECT_EQ(lane.maxSharedOfAll, all);
    for (int i = 0; i < 500; ++i) {
      const double begin = random.unit() * static_cast<double>(now);
      const double end = begin + random.unit() * 3000;
      const DispatchTable::Range range = table.inWindow(lane, begin, end);
      uint32_t expected = 0;
      for (uint32_t at = 0; at < lane.dispatches.size(); ++at) {
        const Dispatch &dispatch = table[lane.dispatches[at]];
        const bool meets = static_cast<double>(dispatch.endNs) > begin &&
                           static_cast<double>(dispatch.beginNs) < end;
        ASSERT_EQ(meets, at >= range.first && at < range.last) << "position " << at;
        expected = meets ? std::max(expected, dispatch.sharedBytes) : expected;
      }
      EXPECT_EQ(table.maxShared(lane, range), expected);
    }
  }
}

TEST(HostRow, FirstReachingEqualsALinearScan) {
  std::cout << "seed " << kPlotSeed << '\n';
  plan::Random random(kPlotSeed);
  HostRow row;
  std::vector<uint64_t> ends;
  uint64_t latest = 0;
  for (uint32_t i = 0; i < 3000; ++i) {
    ends.push_back(i * 10 + random.below(random.below(50) == 0 ? 2000 : 15));
    latest = std::max(latest, ends.back());
    row.spans.push_back(i);
    row.latestEndNs.push_back(latest);
  }
  for (int i = 0; i < 1000; ++i) {
    const uint64_t moment = random.below(latest + 10);
    const size_t found = row.firstReaching(0, moment);
    const auto expected =
        std::find_if(ends.begin(), ends.end(), [&](uint64_t end) { return end > moment; });
    ASSERT_EQ(found, static_cast<size_t>(expected - ends.begin())) << moment;
  }
}

} // namespace
} // namespace gantry::profiler

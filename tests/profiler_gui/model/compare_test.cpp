// Tests compareCaptures() against a replay of the events that does not use CaptureModel.
#include "profiler_gui/model/analysis/compare.h"

#include "tests/profiler_gui/model/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace gantry::profiler {
namespace {

using test::fill;
using test::makeSyntheticCapture;
using test::SyntheticCapture;
using test::SyntheticOptions;
using trace::EventType;

struct Peak {
  uint64_t bytes = 0;
  std::map<std::string, uint64_t> ofName;
};

/// Returns the peak of the heap's live bytes, and the bytes of each name at that time.
Peak replay(const SyntheticCapture &capture) {
  struct Held {
    std::string name;
    uint64_t bytes;
  };
  std::map<uint64_t, Held> held;
  uint64_t live = 0;
  Peak peak;
  for (const trace::Event &event : capture.events) {
    if (event.type() == EventType::kAllocate) {
      held[event.block.block] = {std::string(capture.names[event.block.name]),
                                 event.block.sizeBytes};
      live += event.block.sizeBytes;
    } else if (event.type() == EventType::kRelease) {
      live -= held[event.release.block].bytes;
      held.erase(event.release.block);
    }
    if (live <= peak.bytes)
      continue;
    peak = {live, {}};
    for (const auto &[block, each] : held)
      peak.ofName[each.name] += each.bytes;
  }
  return peak;
}

TEST(Compare, BytesOfNamesAtThePeakEqualAReplayOfTheEvents) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    std::array<SyntheticCapture, 2> captures;
    captures[0] = makeSyntheticCapture(options);
    options.layers = 9;
    options.fault = seed % 2 == 0 ? test::Fault::kLeak : test::Fault::kOversize;
    options.leakBytes = 1u << 20;
    captures[1] = makeSyntheticCapture(options);
    std::array<CaptureModel, 2> models;
    fill(captures[0], &models[0]);
    fill(captures[1], &models[1]);
    const Comparison comparison = compareCaptures(models[0], models[1]);
    ASSERT_EQ(comparison.heaps.size(), 1u);
    EXPECT_EQ(comparison.heaps[0].name, "device memory");
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const Peak peak = replay(captures[side]);
      EXPECT_EQ(comparison.heaps[0].peakBytes[side], peak.bytes) << "seed " << seed;
      uint64_t sum = 0;
      for (const ComparedRow &row : comparison.blocks) {
        const auto found = peak.ofName.find(row.name);
        EXPECT_EQ(row.bytes[side], found == peak.ofName.end() ? 0 : found->second)
            << "seed " << seed << ", " << row.name;
        sum += row.bytes[side];
      }
      EXPECT_EQ(sum, peak.bytes);
    }
    for (size_t i = 1; i < comparison.blocks.size(); ++i)
      EXPECT_GE(std::abs(comparison.blocks[i - 1].bytesMore()),
                std::abs(comparison.blocks[i].bytesMore()));
  }
}

TEST(Compare, ValuesAndOperatorsAddUpToTheArenasPeak) {
  SyntheticOptions options;
  options.twoStreams = false; // Commands then run in the plan's order.
  std::array<SyntheticCapture, 2> captures;
  captures[0] = makeSyntheticCapture(options);
  options.layers = 10;
  captures[1] = makeSyntheticCapture(options);
  std::array<CaptureModel, 2> models;
  fill(captures[0], &models[0]);
  fill(captures[1], &models[1]);
  const Comparison comparison = compareCaptures(models[0], models[1]);
  ASSERT_EQ(comparison.arenas.size(), 1u);
  EXPECT_EQ(comparison.arenas[0].name, "convnet");
  for (const size_t side : {size_t{0}, size_t{1}}) {
    EXPECT_EQ(comparison.arenas[0].reservedBytes[side], models[side].plans()[0].arenaBytes);
    // The live bytes at the peak equal the plan's lower bound.
    EXPECT_EQ(comparison.arenas[0].peakBytes[side], models[side].plans()[0].lowerBoundBytes);
    uint64_t values = 0;
    uint64_t operators = 0;
    for (const ComparedRow &row : comparison.values)
      values += row.bytes[side];
    for (const ComparedRow &row : comparison.operators)
      operators += row.bytes[side];
    EXPECT_EQ(values, comparison.arenas[0].peakBytes[side]);
    EXPECT_EQ(operators, comparison.arenas[0].peakBytes[side]);
  }
}

TEST(Compare, AnOperatorThatTakesLongerIsListedFirstWithTheExactTime) {
  const SyntheticCapture before = makeSyntheticCapture({});
  SyntheticCapture after = before;
  constexpr uint32_t kCommand = 5;
  constexpr uint64_t kMoreNs = 12345;
  for (trace::Event &event : after.events) {
    if (event.type() == EventType::kDispatch && event.dispatch.command == kCommand)
      event.dispatch.gpu.endNs += kMoreNs;
  }
  CaptureModel first;
  CaptureModel second;
  fill(before, &first);
  fill(after, &second);
  const Comparison comparison = compareCaptures(first, second);
  ASSERT_FALSE(comparison.operators.empty());
  const ComparedRow &worst = comparison.operators[0];
  EXPECT_EQ(worst.name, first.text(first.plans()[0].commands[kCommand].name));
  EXPECT_NEAR(worst.timeMore(), static_cast<double>(kMoreNs), 0.01);
  EXPECT_NEAR(worst.count[0], 1, 1e-9);
  for (size_t i = 1; i < comparison.operators.size(); ++i)
    EXPECT_NEAR(comparison.operators[i].timeMore(), 0, 0.01) << comparison.operators[i].name;
}

TEST(Compare, RunsWithoutDeviceTimesDoNotAffectTheTimes) {
  const SyntheticCapture all = makeSyntheticCapture({});
  SyntheticCapture sampled = all;
  std::erase_if(sampled.events, [](const trace::Event &event) {
    return (event.type() == EventType::kDispatch && event.dispatch.run % 3 != 0) ||
           (event.type() == EventType::kCopy && event.copy.run % 3 != 0);
  });
  CaptureModel first;
  CaptureModel second;
  fill(all, &first);
  fill(sampled, &second);
  EXPECT_EQ(first.timedRuns(), first.runs().size());
  EXPECT_GT(second.timedRuns(), 0u);
  EXPECT_LT(second.timedRuns(), first.timedRuns() / 2);
  const Comparison comparison = compareCaptures(first, second);
  ASSERT_FALSE(comparison.operators.empty());
  for (const ComparedRow &row : comparison.operators) {
    EXPECT_NEAR(row.timeNs[1], row.timeNs[0], 0.2 * row.timeNs[0]) << row.name;
    EXPECT_NEAR(row.count[1], row.count[0], 1e-9) << row.name;
  }
  // Blocks of a run without times take the same fractions of the run as in the last run with times,
  // not equal shares.
  size_t timed = 0;
  while (timed < second.runs().size() && second.runs()[timed].dispatchCount == 0)
    ++timed;
  ASSERT_LT(timed + 1, second.runs().size());
  ASSERT_EQ(second.runs()[timed + 1].dispatchCount, 0u);
  const auto livesIn = [](const CaptureModel &model, const profiler::Run &run) {
    std::vector<std::pair<double, double>> lives;
    const BlockTable &table = model.spaces()[model.sessions()[0].arenaSpace].table;
    for (uint32_t row = 0; row < table.size(); ++row)
      if (table.beginNs(row) >= run.beginNs && table.endNs(row) <= run.endNs) {
        const auto length = static_cast<double>(run.endNs - run.beginNs);
        lives.emplace_back(static_cast<double>(table.beginNs(row) - run.beginNs) / length,
                           static_cast<double>(table.endNs(row) - run.beginNs) / length);
      }
    std::sort(lives.begin(), lives.end());
    return lives;
  };
  const auto measured = livesIn(second, second.runs()[timed]);
  const auto taken = livesIn(second, second.runs()[timed + 1]);
  ASSERT_FALSE(measured.empty());
  ASSERT_EQ(measured.size(), taken.size());
  for (size_t i = 0; i < measured.size(); ++i) {
    EXPECT_NEAR(taken[i].first, measured[i].first, 0.01);
    EXPECT_NEAR(taken[i].second, measured[i].second, 0.01);
  }
}

TEST(Compare, ACaptureDoesNotDifferFromItself) {
  const SyntheticCapture capture = makeSyntheticCapture({});
  CaptureModel model;
  fill(capture, &model);
  const Comparison comparison = compareCaptures(model, model);
  EXPECT_FALSE(comparison.blocks.empty());
  EXPECT_FALSE(comparison.operators.empty());
  for (const auto *rows : {&comparison.blocks, &comparison.values, &comparison.operators}) {
    for (const ComparedRow &row : *rows) {
      EXPECT_EQ(row.bytesMore(), 0) << row.name;
      EXPECT_EQ(row.timeMore(), 0) << row.name;
      EXPECT_EQ(row.count[0], row.count[1]) << row.name;
    }
  }
}

TEST(Compare, NamesOfOnlyOneCaptureAreListed) {
  SyntheticOptions options;
  const SyntheticCapture whole = makeSyntheticCapture(options);
  const SyntheticCapture nothing;
  CaptureModel first;
  CaptureModel second;
  fill(whole, &first);
  second.ingest({}, nothing.names);
  second.finish();
  const Comparison comparison = compareCaptures(first, second);
  ASSERT_EQ(comparison.heaps.size(), 1u);
  EXPECT_GT(comparison.heaps[0].peakBytes[0], 0u);
  EXPECT_EQ(comparison.heaps[0].peakBytes[1], 0u);
  for (const ComparedRow &row : comparison.operators)
    EXPECT_EQ(row.count[1], 0) << row.name;
}

} // namespace
} // namespace gantry::profiler

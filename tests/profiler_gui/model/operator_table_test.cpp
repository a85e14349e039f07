// Tests OperatorTable against loops over all dispatches, and the search among dispatches.
#include "profiler_gui/model/analysis/operator_table.h"
#include "profiler_gui/model/index/search.h"

#include "tests/support/synthetic_capture.h"

#include <gtest/gtest.h>

#include <map>
#include <span>

namespace gantry::profiler {
namespace {

struct Sums {
  uint64_t calls = 0;
  double timeNs = 0, flops = 0, bytes = 0;
  uint32_t shared = 0;
};

/// Returns the sums of each operator, by a loop over all dispatches.
std::map<std::string, Sums> byHand(const CaptureModel &model) {
  std::map<std::string, Sums> sums;
  for (uint32_t i = 0; i < model.dispatches().size(); ++i) {
    const Dispatch &dispatch = model.dispatches()[i];
    const PlanCommand &command =
        model.plans()[model.runs()[dispatch.run].plan].commands[dispatch.command];
    Sums &sum = sums[std::string(model.text(command.name))];
    ++sum.calls;
    sum.timeNs += static_cast<double>(dispatch.endNs - dispatch.beginNs);
    sum.flops += static_cast<double>(command.flops);
    sum.bytes += static_cast<double>(command.bytesMoved);
    sum.shared = std::max(sum.shared, dispatch.sharedBytes);
  }
  return sums;
}

TEST(OperatorTable, EqualsALoopOverAllDispatchesWhenItGrowsInParts) {
  const test::SyntheticCapture capture = test::makeSyntheticCapture({});
  CaptureModel model;
  OperatorTable table;
  const std::span<const trace::Event> events(capture.events);
  for (size_t at = 0; at < events.size(); at += 97) { // A live capture arrives in parts.
    model.ingest(events.subspan(at, std::min<size_t>(97, events.size() - at)), capture.names);
    table.update(model);
  }
  const std::map<std::string, Sums> expected = byHand(model);
  ASSERT_GT(expected.size(), 20u);
  ASSERT_EQ(table.rows().size(), expected.size());
  double all = 0;
  for (const auto &[name, sum] : expected) {
    const OperatorRow *row = table.find(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->calls, sum.calls) << name;
    EXPECT_NEAR(row->timeNs, sum.timeNs, 1) << name;
    EXPECT_NEAR(row->bytes, sum.bytes, sum.bytes * 1e-6) << name;
    EXPECT_NEAR(row->gflops(), sum.flops / sum.timeNs, 1e-3) << name;
    EXPECT_NEAR(row->gigabytes(), sum.bytes / sum.timeNs, 1e-3) << name;
    EXPECT_EQ(row->sharedBytes, sum.shared) << name;
    all += sum.timeNs;
    const Dispatch &longest = model.dispatches()[row->longest];
    EXPECT_EQ(model.text(model.commandOf(longest)->name), name);
  }
  EXPECT_NEAR(table.timeNs(), all, 1);
  EXPECT_EQ(table.find("Conv_3 + Relu_3")->kind, OpKind::kConvolution);
}

TEST(OperatorTable, LinesAreSortedByTimeNameOrSharedBytes) {
  const test::SyntheticCapture capture = test::makeSyntheticCapture({});
  CaptureModel model;
  model.ingest(capture.events, capture.names);
  OperatorTable table;
  table.update(model);
  const OperatorTables alone{&table, nullptr, model.timedRuns(), 0};
  const std::vector<OperatorLine> down = operatorLines(alone, OperatorColumn::kTime, true);
  const std::vector<OperatorLine> up = operatorLines(alone, OperatorColumn::kTime, false);
  ASSERT_EQ(down.size(), table.rows().size());
  for (size_t i = 1; i < down.size(); ++i) {
    EXPECT_GE(down[i - 1].timeNs, down[i].timeNs);
    EXPECT_LE(up[i - 1].timeNs, up[i].timeNs);
  }
  const auto names = operatorLines(alone, OperatorColumn::kName, false);
  for (size_t i = 1; i < names.size(); ++i)
    EXPECT_LT(names[i - 1].any().name, names[i].any().name);
  const auto shared = operatorLines(alone, OperatorColumn::kShared, true);
  EXPECT_GE(shared.front().any().sharedBytes, shared.back().any().sharedBytes);
}

TEST(OperatorTable, ComparedTimesArePerRunAndHaveRatios) {
  test::SyntheticOptions options;
  options.layers = 9; // Fewer than by default, so the second capture lacks some operators.
  options.steps = 5;
  const test::SyntheticCapture first = test::makeSyntheticCapture({});
  const test::SyntheticCapture second = test::makeSyntheticCapture(options);
  CaptureModel models[2];
  OperatorTable tables[2];
  models[0].ingest(first.events, first.names);
  models[1].ingest(second.events, second.names);
  for (int i = 0; i < 2; ++i)
    tables[i].update(models[i]);
  const auto lines =
      operatorLines({&tables[0], &tables[1], models[0].timedRuns(), models[1].timedRuns()},
                    OperatorColumn::kRatio, true);
  ASSERT_EQ(lines.size(), tables[0].rows().size()) << "the first has all operators of the second";
  size_t with = 0;
  for (const OperatorLine &line : lines) {
    EXPECT_NEAR(line.timeNs, line.first->timeNs / 12, 1);
    if (line.second == nullptr) {
      EXPECT_FALSE(line.hasRatio());
      continue;
    }
    ++with;
    EXPECT_NEAR(line.ratio(), (line.second->timeNs / 5) / (line.first->timeNs / 12), 1e-9);
  }
  EXPECT_EQ(with, tables[1].rows().size());
  EXPECT_FALSE(lines.back().hasRatio()) << "lines without a ratio come last";
}

TEST(OperatorTable, ACaptureWithoutTimesHasNoTimesOrRates) {
  test::SyntheticCapture capture = test::makeSyntheticCapture({});
  for (trace::Event &event : capture.events) {
    if (event.type() == trace::EventType::kDispatch)
      event.dispatch.gpu = {};
  }
  CaptureModel model;
  model.ingest(capture.events, capture.names);
  OperatorTable table;
  table.update(model);
  ASSERT_GT(table.rows().size(), 20u);
  EXPECT_EQ(table.timeNs(), 0);
  for (const OperatorRow &row : table.rows()) {
    EXPECT_GT(row.calls, 0u);
    EXPECT_GT(row.bytes, 0);
    EXPECT_FALSE(row.timed());
    EXPECT_EQ(row.gflops(), 0);
  }
}

TEST(Search, CountsDispatchesByOperatorAndKernelName) {
  const test::SyntheticCapture capture = test::makeSyntheticCapture({});
  CaptureModel model;
  model.ingest(capture.events, capture.names);
  EXPECT_EQ(search(model, *parseQuery("im2col_3")).dispatches, 12u);
  EXPECT_EQ(search(model, *parseQuery("CONV3X3_TILE32")).dispatches, 12u * 14);
  EXPECT_EQ(search(model, *parseQuery("nothing")).dispatches, 0u);
  const SearchResult large = search(model, *parseQuery(">1MiB"));
  EXPECT_EQ(large.dispatches, 0u);
  EXPECT_TRUE(large.has(model.plans()[0].commands[0]))
      << "a query for a size matches blocks, so no command is dimmed";
}

} // namespace
} // namespace gantry::profiler

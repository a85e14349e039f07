// Tests CaptureModel, the check of runs against their plans (plan_check.h), GrowthWatch, which
// finds leaks, and search, on synthetic captures of a training loop with and without faults.
#include "profiler_gui/model/capture/capture_model.h"

#include "profiler_gui/model/analysis/plan_check.h"
#include "profiler_gui/model/index/search.h"
#include "tests/profiler_gui/model/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

namespace gantry::profiler {
namespace {

using test::Fault;
using test::fill;
using test::makeSyntheticCapture;
using test::SyntheticCapture;
using test::SyntheticOptions;

TEST(CaptureModel, LiveBytesEqualTheHeapsCountersExactly) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    const SyntheticCapture capture = makeSyntheticCapture(options);
    CaptureModel model;
    fill(capture, &model);
    ASSERT_EQ(model.heaps().size(), 1u);
    EXPECT_EQ(model.heaps()[0].live.last(), capture.liveBytesAtEnd);
    uint64_t held = 0;
    for (const AddressSpace &space : model.spaces()) {
      for (uint32_t row = 0; space.kind == SpaceKind::kSlab && row < space.table.size(); ++row)
        held += space.table.endNs(row) == kStillHeld ? space.table.sizeBytes(row) : 0;
    }
    EXPECT_EQ(held, capture.liveBytesAtEnd);
    EXPECT_EQ(model.unmatched(), 0u);
  }
}

// finish() orders the rows by time and address together, so the earliest block is in no fixed row.
TEST(CaptureModel, TheFirstActivityIsTheEarliestBeginOfAnyBlockOrRun) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    CaptureModel model;
    fill(makeSyntheticCapture(options), &model);
    uint64_t first = model.nowNs();
    for (const AddressSpace &space : model.spaces())
      for (uint32_t row = 0; row < space.table.size(); ++row)
        first = std::min(first, space.table.beginNs(row));
    for (const auto &run : model.runs())
      first = std::min(first, run.beginNs);
    EXPECT_EQ(model.firstActivityNs(), first);
  }
}

TEST(CaptureModel, FillsTheArenaOfEachRunFromItsPlan) {
  const SyntheticCapture capture = makeSyntheticCapture({});
  CaptureModel model;
  fill(capture, &model);
  ASSERT_EQ(model.sessions().size(), 1u);
  ASSERT_LT(model.sessions()[0].arenaSpace, model.spaces().size());
  const AddressSpace &arena = model.spaces()[model.sessions()[0].arenaSpace];
  size_t transients = 0;
  for (const PlanEntry &entry : model.planEntries())
    transients += entry.storage == Storage::kTransient;
  EXPECT_EQ(arena.table.size(), transients * model.runs().size());
  EXPECT_EQ(arena.sizeBytes, model.plans()[0].arenaBytes);
  for (uint32_t row = 0; row < arena.table.size(); ++row)
    ASSERT_LT(arena.table.beginNs(row), arena.table.endNs(row));
}

TEST(CaptureModel, DispatchesNeverOverlapInALane) {
  const SyntheticCapture capture = makeSyntheticCapture({});
  CaptureModel model;
  fill(capture, &model);
  EXPECT_GT(model.dispatches().lanes().size(), 1u) << "the capture has two streams";
  size_t count = 0;
  for (const Lane &lane : model.dispatches().lanes()) {
    for (size_t i = 1; i < lane.dispatches.size(); ++i)
      ASSERT_LE(model.dispatches()[lane.dispatches[i - 1]].endNs,
                model.dispatches()[lane.dispatches[i]].beginNs);
    count += lane.dispatches.size();
  }
  EXPECT_EQ(count, model.dispatches().size());
  EXPECT_EQ(count, model.runs().size() * model.plans()[0].commands.size());
}

TEST(CaptureModel, DeviceTimesAreConvertedToTheHostsClock) {
  const SyntheticCapture capture = makeSyntheticCapture({});
  CaptureModel model;
  fill(capture, &model);
  for (uint32_t i = 0; i < model.dispatches().size(); ++i) {
    const Dispatch &dispatch = model.dispatches()[i];
    const profiler::Run &run = model.runs()[dispatch.run];
    ASSERT_FALSE(dispatch.estimated);
    ASSERT_GE(dispatch.beginNs, run.beginNs);
    ASSERT_LE(dispatch.endNs, run.endNs);
  }
}

TEST(CaptureModel, DamagedEventsAreCountedAndHarmless) {
  SyntheticCapture capture = makeSyntheticCapture({});
  plan::Random random(5);
  std::vector<trace::Event> damaged;
  for (trace::Event event : capture.events) {
    if (random.below(20) == 0)
      continue;                  // Drops the event.
    if (random.below(20) == 0) { // Replaces the bytes after the header with random bytes.
      auto *bytes = reinterpret_cast<uint8_t *>(&event);
      for (size_t i = sizeof(trace::EventHeader); i < trace::eventBytes(event.type()); ++i)
        bytes[i] = static_cast<uint8_t>(random.below(256));
    }
    damaged.push_back(event);
  }
  CaptureModel model;
  model.ingest(damaged, capture.names);
  model.finish();
  checkPlans(model);
  EXPECT_GT(model.unmatched(), 0u);
}

TEST(PlanCheck, TwentyInjectedFaultsAreReportedWithTheRightOperator) {
  const Fault kinds[] = {Fault::kOffsetShifted, Fault::kLateFree,     Fault::kLeak,
                         Fault::kOversize,      Fault::kIllegalAlias, Fault::kDonationKept};
  for (uint64_t i = 0; i < 20; ++i) {
    SyntheticOptions options;
    options.seed = 100 + i;
    options.fault = kinds[i % 6];
    options.steps = options.fault == Fault::kLeak ? 30 : 12;
    const SyntheticCapture capture = makeSyntheticCapture(options);
    CaptureModel model;
    fill(capture, &model);
    const std::vector<Finding> findings = checkPlans(model);
    ASSERT_FALSE(capture.expectedOp.empty()) << "seed " << options.seed;
    EXPECT_TRUE(std::any_of(
        findings.begin(), findings.end(),
        [&](const Finding &finding) {
          const bool alias = options.fault == Fault::kIllegalAlias;
          const bool kind =
              static_cast<int>(finding.kind) ==
              static_cast<int>(options.fault == Fault::kOffsetShifted ? FindingKind::kOffsetShifted
                               : options.fault == Fault::kLateFree    ? FindingKind::kLateFree
                               : options.fault == Fault::kLeak        ? FindingKind::kLeak
                               : options.fault == Fault::kOversize    ? FindingKind::kOversize
                               : alias                                ? FindingKind::kIllegalAlias
                                                                      : FindingKind::kDonationKept);
          return kind && finding.op == capture.expectedOp;
        }))
        << "fault " << i % 6 << ", seed " << options.seed << ", expected " << capture.expectedOp
        << ", found " << findings.size();
  }
}

TEST(PlanCheck, AHundredRunsWithoutFaultsHaveNoFindings) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    options.steps = 34;
    options.layers = 4 + seed % 12;
    const SyntheticCapture capture = makeSyntheticCapture(options);
    CaptureModel model;
    fill(capture, &model);
    const std::vector<Finding> findings = checkPlans(model);
    ASSERT_TRUE(findings.empty()) << "seed " << seed << ": " << findings[0].text;
  }
}

TEST(GrowthWatch, ALeakOfFourKibibytesPerStepIsReportedWithinThirtySteps) {
  SyntheticOptions options;
  options.fault = Fault::kLeak;
  options.steps = 30;
  const SyntheticCapture capture = makeSyntheticCapture(options);
  CaptureModel model;
  fill(capture, &model);
  ASSERT_EQ(model.growth().suspects().size(), 1u);
  const Suspect &suspect = model.growth().suspects()[0];
  EXPECT_EQ(model.text(suspect.name), "gradient norm");
  EXPECT_EQ(model.text(suspect.op), "log metrics");
  EXPECT_LE(suspect.namedAtStep, 30u);
  EXPECT_NEAR(suspect.bytesPerStep, 4096, 1);
}

TEST(Search, FindsByWordsAddressesAndSizes) {
  const SyntheticCapture capture = makeSyntheticCapture({});
  CaptureModel model;
  fill(capture, &model);
  for (const char *text : {"relu grad", "0x1000-0x200000", ">1MiB", "<1KiB scratch"}) {
    const Result<Query> query = parseQuery(text);
    ASSERT_TRUE(query.isOk()) << text;
    const SearchResult result = search(model, *query);
    EXPECT_GT(result.count, 0u) << text;
    for (const SearchHit &hit : result.hits)
      EXPECT_TRUE(result.has(model.spaces()[hit.space].table.at(hit.row)));
  }
  for (const char *text : {"0xzz", ">lots", "0x20-0x10"})
    EXPECT_FALSE(parseQuery(text).isOk()) << text;
}

} // namespace
} // namespace gantry::profiler

// Tests the what-if questions (what_if.h: how large the arena would be with another size of a
// value, another order or a budget): on small graphs the expected answer is known; on captures of a
// training loop, the tests check the rules that every answer must obey.
#include "profiler_gui/model/analysis/what_if.h"

#include "tests/support/synthetic_capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace gantry::profiler {
namespace {

using namespace trace;

constexpr uint64_t kBig = 1u << 20;
constexpr uint64_t kSmall = 4096;

/// A capture of one session with one plan and one run, in which each command takes 10 µs.
class OnePlan {
public:
  struct Operator {
    std::vector<uint32_t> reads, writes;
  };
  /// The slot of a value, and the value's offset in the slot. All slots begin at offset 0 of the
  /// arena.
  struct Place {
    uint32_t slot;
    uint64_t offset;
  };
  /// places: empty if each value has a slot of its own.
  OnePlan(const std::vector<uint64_t> &sizes, const std::vector<Operator> &operators,
          const std::vector<Place> &places = {}) {
    DeviceEvent device = makeEvent<DeviceEvent>(EventType::kDevice);
    device.device = 1;
    events_.emplace_back(device);
    SessionEvent session = makeEvent<SessionEvent>(EventType::kSession);
    session.session = 1;
    session.device = 1;
    events_.emplace_back(session);
    PlanEvent plan = makeEvent<PlanEvent>(EventType::kPlan);
    plan.plan = 1;
    plan.session = 1;
    plan.commands = static_cast<uint32_t>(operators.size());
    plan.entries = static_cast<uint32_t>(sizes.size());
    events_.emplace_back(plan);
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      PlanEntryEvent entry = makeEvent<PlanEntryEvent>(EventType::kPlanEntry);
      entry.plan = 1;
      entry.value = i;
      entry.slot = places.empty() ? i : places[i].slot;
      entry.offsetBytes = places.empty() ? 0 : places[i].offset;
      entry.sizeBytes = sizes[i];
      entry.storage = static_cast<uint8_t>(EntryStorage::kTransient);
      entry.firstUse = UINT32_MAX;
      for (uint32_t c = 0; c < operators.size(); ++c) {
        const Operator &op = operators[c];
        if (std::count(op.reads.begin(), op.reads.end(), i) +
                std::count(op.writes.begin(), op.writes.end(), i) ==
            0)
          continue;
        entry.firstUse = std::min(entry.firstUse, c);
        entry.lastUse = c;
      }
      events_.emplace_back(entry);
    }
    for (uint32_t c = 0; c < operators.size(); ++c)
      addCommand(c, operators[c]);
    RunEvent run = makeEvent<RunEvent>(EventType::kRun);
    run.run = 1;
    run.session = 1;
    run.plan = 1;
    events_.emplace_back(run);
    const uint64_t end = 10'000 * operators.size();
    for (uint32_t c = 0; c < operators.size(); ++c) {
      DispatchEvent dispatch = makeEvent<DispatchEvent>(EventType::kDispatch);
      dispatch.header.timeNs = end;
      dispatch.run = 1;
      dispatch.command = c;
      dispatch.device = 1;
      events_.emplace_back(dispatch);
    }
    run.header.type = EventType::kRunEnd;
    run.header.timeNs = end;
    events_.emplace_back(run);
    model_.ingest(events_, names_);
    model_.finish();
  }
  const CaptureModel &model() const { return model_; }

private:
  void addCommand(uint32_t c, const Operator &op) {
    CommandEvent command = makeEvent<CommandEvent>(EventType::kCommand);
    command.plan = 1;
    command.command = c;
    events_.emplace_back(command);
    for (const bool write : {false, true}) {
      for (const uint32_t value : write ? op.writes : op.reads) {
        AccessEvent access = makeEvent<AccessEvent>(EventType::kAccess);
        access.plan = 1;
        access.command = c;
        access.value = value;
        access.write = write ? 1 : 0;
        events_.emplace_back(access);
      }
    }
  }

  NameTable names_;
  std::vector<Event> events_;
  CaptureModel model_;
};

/// Returns a plan with two branches, each with a large intermediate value and a small result. The
/// given order is breadth first, so both large values are live at once. Values 0 and 1 are the
/// large ones, 2 and 3 the results of the branches, and 4 is the result of the program.
OnePlan branches() {
  return OnePlan({kBig, kBig, kSmall, kSmall, kSmall},
                 {{{}, {0}}, {{}, {1}}, {{0}, {2}}, {{1}, {3}}, {{2, 3}, {4}}});
}

TEST(WhatIf, ABetterOrderOfTwoBranchesIsFound) {
  const OnePlan plan = branches();
  const Result<WhatIf> answer = whatIfOrder(plan.model(), 0);
  ASSERT_TRUE(answer.isOk()) << answer.status().message();
  EXPECT_EQ(answer->arenaBefore, 2 * kBig + kSmall);
  // At the peak, the second branch and the result of the first one are live.
  EXPECT_EQ(answer->arenaBytes, kBig + 2 * kSmall);
  EXPECT_TRUE(answer->optimal);
  EXPECT_GE(answer->commandsMoved, 2u);
}

/// Command 2 reads value 2, a concatenation of the values 0 and 1.
TEST(WhatIf, AConcatenationIsReadAfterAllItsPartsAreWritten) {
  const OnePlan plan({kBig, kBig, 2 * kBig, kSmall}, {{{}, {0}}, {{}, {1}}, {{2}, {3}}},
                     {{0, 0}, {0, kBig}, {0, 0}, {1, 0}});
  const Result<WhatIf> answer = whatIfOrder(plan.model(), 0);
  ASSERT_TRUE(answer.isOk()) << answer.status().message();
  EXPECT_EQ(answer->arenaBytes, 2 * kBig + kSmall) << "all of them are alive at the last command";
}

/// Value 0 is a storage of two halves, as in a U-Net: value 2, its second half, is written first,
/// and value 1, its first half, is written later.
TEST(WhatIf, PartsOfAStorageCountWhileTheyAreInUse) {
  const OnePlan plan({2 * kBig, kBig, kBig, kBig, kSmall},
                     {{{}, {2}}, {{2}, {3}}, {{3}, {1}}, {{0}, {4}}},
                     {{0, 0}, {0, 0}, {0, kBig}, {1, 0}, {2, 0}});
  const Result<WhatIf> answer = whatIfSize(plan.model(), 4, 2);
  ASSERT_TRUE(answer.isOk()) << answer.status().message();
  EXPECT_EQ(answer->arenaBefore, 3 * kBig);
  const Result<WhatIf> half = whatIfSize(plan.model(), 3, 0.5);
  ASSERT_TRUE(half.isOk()) << half.status().message();
  EXPECT_EQ(half->arenaBytes, 2 * kBig + kBig / 2);
}

TEST(WhatIf, ABudgetIsMetInTheCheaperWayAndReportsItsCost) {
  const OnePlan plan = branches();
  const uint64_t budget = kBig + kBig / 2;
  const Result<WhatIf> answer = whatIfBudget(plan.model(), 0, budget);
  ASSERT_TRUE(answer.isOk()) << answer.status().message();
  EXPECT_TRUE(answer->fits);
  EXPECT_LE(answer->arenaBytes, budget);
  EXPECT_EQ(answer->arenaBefore, 2 * kBig + kSmall);
  // The first value must leave the arena while the second is written, and the second while the
  // first is read. Recomputing a value takes 10 µs. Moving it to the host and back takes 131 µs: 2
  // MiB at 16 GB/s.
  EXPECT_EQ(answer->recomputed, 2u);
  EXPECT_EQ(answer->movedToHost, 0u);
  EXPECT_NEAR(answer->extraNs, 20'000, 1);
}

TEST(WhatIf, ABudgetBelowTheNeedOfOneCommandNamesThatCommand) {
  const OnePlan plan = branches();
  const Result<WhatIf> answer = whatIfBudget(plan.model(), 0, kBig);
  ASSERT_TRUE(answer.isOk()) << answer.status().message();
  EXPECT_FALSE(answer->fits);
  EXPECT_EQ(answer->minBytes, kBig + kSmall);
  EXPECT_TRUE(answer->minCommand == 2 || answer->minCommand == 3);
}

TEST(WhatIf, AValueWhoseOperandIsOverwrittenIsNotRecomputed) {
  // Command 3 overwrites value 0, the operand of command 1. The result of command 1 can therefore
  // be moved, but not recomputed.
  const OnePlan plan({kSmall, kBig, kBig, kSmall, kSmall},
                     {{{}, {0}}, {{0}, {1}}, {{}, {2}}, {{2}, {0, 3}}, {{1}, {4}}});
  const Result<WhatIf> answer = whatIfBudget(plan.model(), 0, kBig + 4 * kSmall);
  ASSERT_TRUE(answer.isOk()) << answer.status().message();
  EXPECT_TRUE(answer->fits);
  EXPECT_EQ(answer->recomputed, 0u);
  EXPECT_EQ(answer->movedToHost, 1u);
  EXPECT_EQ(answer->hostBytes, 2 * kBig);
}

/// Returns all ordered pairs of commands that access the same value, with at least one write.
std::set<std::pair<uint32_t, uint32_t>> hazards(const Plan &plan) {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const Access &a : plan.accesses) {
    for (const Access &b : plan.accesses) {
      if (a.value == b.value && (a.write || b.write) && a.command < b.command)
        pairs.emplace(a.command, b.command);
    }
  }
  return pairs;
}

/// Expects that values which are live together do not overlap, unless they share a slot, and that
/// all values are in the arena.
void expectApart(const CaptureModel &model, const WhatIf &answer) {
  uint64_t top = 0;
  for (size_t i = 0; i < answer.places.size(); ++i) {
    const WhatIfPlace &a = answer.places[i];
    top = std::max(top, a.offset + a.sizeBytes);
    for (size_t j = i + 1; j < answer.places.size(); ++j) {
      const WhatIfPlace &b = answer.places[j];
      const bool together = a.firstUse <= b.lastUse && b.firstUse <= a.lastUse;
      const bool same = model.planEntries()[a.entry].slot == model.planEntries()[b.entry].slot;
      EXPECT_FALSE(together && !same && a.offset < b.offset + b.sizeBytes &&
                   b.offset < a.offset + a.sizeBytes)
          << i << " and " << j;
    }
  }
  EXPECT_LE(top, answer.arenaBytes);
}

TEST(WhatIf, AnswersForATrainingStepObeyAllRules) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    test::SyntheticOptions options;
    options.seed = seed;
    options.steps = 2;
    const test::SyntheticCapture capture = test::makeSyntheticCapture(options);
    CaptureModel model;
    model.ingest(capture.events, capture.names);
    model.finish();
    const uint64_t arena = model.plans()[0].arenaBytes;
    const Result<WhatIf> ordered = whatIfOrder(model, 0);
    ASSERT_TRUE(ordered.isOk()) << ordered.status().message();
    EXPECT_EQ(ordered->arenaBefore, arena);
    EXPECT_LE(ordered->lowerBoundBytes, model.plans()[0].lowerBoundBytes);
    std::vector<uint32_t> position(ordered->order.size(), UINT32_MAX);
    for (uint32_t i = 0; i < ordered->order.size(); ++i)
      position[ordered->order[i]] = i;
    EXPECT_EQ(std::count(position.begin(), position.end(), UINT32_MAX), 0) << "a permutation";
    for (const auto &[first, second] : hazards(model.plans()[0]))
      ASSERT_LT(position[first], position[second]) << "seed " << seed;
    expectApart(model, *ordered);
    for (const uint64_t percent : {95u, 80u, 60u}) {
      const Result<WhatIf> answer = whatIfBudget(model, 0, arena * percent / 100);
      ASSERT_TRUE(answer.isOk()) << answer.status().message();
      EXPECT_EQ(answer->arenaBefore, arena);
      if (arena * percent / 100 >= answer->minBytes * 11 / 10) {
        EXPECT_TRUE(answer->fits) << "seed " << seed << ", " << percent << " %";
      }
      if (!answer->fits)
        continue;
      EXPECT_LE(answer->arenaBytes, arena * percent / 100);
      EXPECT_GT(answer->recomputed + answer->movedToHost, 0u);
      EXPECT_GT(answer->extraNs, 0);
      expectApart(model, *answer);
    }
  }
}

TEST(WhatIf, AnUnknownPlanIsRefused) {
  const OnePlan plan = branches();
  EXPECT_EQ(whatIfOrder(plan.model(), 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(whatIfBudget(plan.model(), 1, kBig).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(whatIfSize(plan.model(), 99, 2).status().code(), StatusCode::kInvalidArgument);
}

} // namespace
} // namespace gantry::profiler

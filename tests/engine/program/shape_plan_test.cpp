// Tests shape plans (the memory plan of a program for one set of dynamic sizes) of static, dynamic
// and bounded programs. The compiler plans a bounded program once, for its max sizes.
#include "engine/program/shape_plan.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

#include <map>

namespace gantry::program {
namespace {

using test::TestModel;

std::shared_ptr<const Program> load(TestModel &model, const test::ScratchFolder &scratch) {
  const std::string path = scratch.path("m.gantry");
  const Status written = model.write(path);
  EXPECT_TRUE(written.isOk()) << written.message();
  return Program::load(path).take();
}

TEST(ShapePlan, AStaticProgramUsesTheArtifactsPlan) {
  test::ScratchFolder scratch;
  TestModel model;
  test::buildChain(model, model.number(1000), std::vector<float>(1000));
  const auto program = load(model, scratch);
  auto plan = makeShapePlan(program->metadata(), {}, {});
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->arenaBytes, model.program().arena_bytes);
  EXPECT_EQ(plan->slots.size(), 3u) << "t1 and t2 share a slot";
  for (size_t v = 0; v < plan->offsets.size(); ++v)
    if (model.program().values[v]->storage == artifact::Storage::transient) {
      EXPECT_EQ(plan->offsets[v], model.program().values[v]->byte_offset);
    } else {
      EXPECT_EQ(plan->offsets[v], kNoOffset);
    }
}

TEST(ShapePlan, RefusesAnArtifactWhoseValuesOverlap) {
  test::ScratchFolder scratch;
  TestModel model;
  test::buildChain(model, model.number(1000), std::vector<float>(1000));
  for (auto &value : model.finish().values)
    if (value->storage == artifact::Storage::transient)
      value->byte_offset = 0;
  const auto program = load(model, scratch);
  auto plan = makeShapePlan(program->metadata(), {}, {});
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), StatusCode::kDataLoss);
}

/// Builds joined = [2 in, 2 other, 2 in], out = 2 joined.
void buildJoin(TestModel &model, uint32_t n, uint32_t m) {
  const uint32_t in = model.input("in", artifact::ElementType::f32, {n});
  const uint32_t other = model.input("other", artifact::ElementType::f32, {m});
  std::vector<uint32_t> parts;
  for (const uint32_t from : {in, other, in})
    parts.push_back(model.apply(test::TestKernel::kTwice, {from}, "Twice_" + std::to_string(from)));
  const uint32_t joined = model.join(parts, "joined");
  model.output("out", model.apply(test::TestKernel::kTwice, {joined}, "Twice_out"));
}

TEST(ShapePlan, PartsLieOneAfterAnotherInTheirSlot) {
  test::ScratchFolder scratch;
  for (const bool dynamic : {false, true})
    for (const uint64_t guardBytes : {0, 256}) {
      TestModel model;
      const uint32_t n = dynamic ? model.symbol("n", 0, 0) : model.number(48);
      buildJoin(model, n, dynamic ? model.symbol("m", 1, 0) : model.number(16));
      const auto program = load(model, scratch);
      const int64_t symbols[] = {48, 16};
      ShapePlanOptions options;
      options.guardBytes = guardBytes;
      auto plan = makeShapePlan(program->metadata(), {symbols, dynamic ? 2U : 0U}, options);
      ASSERT_TRUE(plan.isOk()) << plan.status().message();
      ASSERT_EQ(plan->slots.size(), 1U);
      EXPECT_EQ(plan->slots[0].sizeBytes, 4U * 112);
      EXPECT_EQ(program->metadata().values()->Get(plan->slots[0].value)->name()->str(), "joined");
      std::vector<uint64_t> starts;
      for (const uint64_t offset : plan->offsets)
        if (offset != kNoOffset)
          starts.push_back(offset - plan->slots[0].offset);
      EXPECT_EQ(starts, (std::vector<uint64_t>{0, 192, 256, 0}));
      // The parts may be written at the same time; the whole is read after them.
      EXPECT_EQ(plan->barrierBefore, (std::vector<bool>{false, false, false, true}));
    }
}

TEST(ShapePlan, RefusesAPartAgainstItsAlignment) {
  test::ScratchFolder scratch;
  TestModel model;
  const uint32_t n = model.symbol("n", 0, 0), m = model.symbol("m", 1, 0);
  buildJoin(model, n, m);
  const auto program = load(model, scratch);
  const int64_t symbols[] = {47, 16};
  auto plan = makeShapePlan(program->metadata(), symbols, {});
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(plan.status().message().find("begins 188 bytes after its slot"), std::string::npos)
      << plan.status().message();
}

TEST(ShapePlan, RefusesACopyBetweenSizesThatDiffer) {
  test::ScratchFolder scratch;
  TestModel model;
  const uint32_t n = model.symbol("n", 0, 0), m = model.symbol("m", 1, 0);
  const uint32_t from = model.input("from", artifact::ElementType::f32, {n});
  const uint32_t other = model.input("other", artifact::ElementType::f32, {m});
  const uint32_t to = model.copy(from, "Identity_0");
  model.output("to", to);
  artifact::ProgramT &metadata = model.finish();
  metadata.values[to]->dims = metadata.values[other]->dims;
  metadata.values[to]->size = metadata.values[other]->size;
  const auto program = load(model, scratch);
  const int64_t equal[] = {8, 8}, shorter[] = {8, 7};
  EXPECT_TRUE(makeShapePlan(program->metadata(), equal, {}).isOk());
  auto plan = makeShapePlan(program->metadata(), shorter, {});
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(plan.status().message().find("copies a value of 32 bytes to one of 28"),
            std::string::npos)
      << plan.status().message();
}

TEST(ShapePlan, PlansDynamicProgramsPerShape) {
  test::ScratchFolder scratch;
  TestModel model;
  test::buildChain(model, model.symbol("n", 0, 0), std::vector<float>(5000));
  const auto program = load(model, scratch);
  for (int64_t n : {1, 64, 65, 4097}) {
    const int64_t symbols[] = {n};
    auto plan = makeShapePlan(program->metadata(), symbols, {});
    ASSERT_TRUE(plan.isOk());
    const auto aligned = static_cast<uint64_t>((4 * n + 255) / 256 * 256);
    EXPECT_EQ(plan->lowerBoundBytes, 3 * aligned) << n;
    EXPECT_GE(plan->arenaBytes, 2 * aligned + 4 * static_cast<uint64_t>(n));
    EXPECT_LE(plan->arenaBytes, plan->lowerBoundBytes);
    EXPECT_EQ(plan->barrierBefore, (std::vector<bool>{false, true, true, true, true}));
  }
}

TEST(ShapePlan, ABoundedProgramUsesTheArtifactsPlanForAllSizes) {
  test::ScratchFolder scratch;
  TestModel model;
  test::buildChain(model, model.symbol("n", 0, 0, 1, 1000), std::vector<float>(1000));
  // Write the plan for the max size into the metadata, like the compiler.
  artifact::ProgramT &metadata = model.finish();
  metadata.bounded = true;
  metadata.arena_bytes = 3 * 4096;
  metadata.lower_bound_bytes = 3 * 4096;
  auto place = [&](uint64_t apart) {
    std::map<uint32_t, uint64_t> offsets;
    for (auto &value : metadata.values)
      if (value->storage == artifact::Storage::transient)
        value->byte_offset = offsets.try_emplace(value->slot, apart * offsets.size()).first->second;
  };
  place(4096);
  const auto program = load(model, scratch);
  for (int64_t n : {1, 64, 999, 1000}) {
    const int64_t symbols[] = {n};
    auto plan = makeShapePlan(program->metadata(), symbols, {});
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    EXPECT_EQ(plan->arenaBytes, 3u * 4096) << n;
    for (size_t v = 0; v < plan->offsets.size(); ++v)
      if (metadata.values[v]->storage == artifact::Storage::transient) {
        EXPECT_EQ(plan->offsets[v], metadata.values[v]->byte_offset);
      }
    EXPECT_EQ(plan->barrierBefore, (std::vector<bool>{false, true, true, true, true}));
  }
  const int64_t beyond[] = {1001};
  auto plan = makeShapePlan(program->metadata(), beyond, {});
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);

  // A plan in which values overlap only at larger sizes is refused at such a size.
  place(256);
  const auto wrong = load(model, scratch);
  const int64_t small[] = {64}, large[] = {65};
  EXPECT_TRUE(makeShapePlan(wrong->metadata(), small, {}).isOk());
  plan = makeShapePlan(wrong->metadata(), large, {});
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), StatusCode::kDataLoss);
}

TEST(ShapePlan, GuardsFollowEachSlot) {
  test::ScratchFolder scratch;
  TestModel model;
  test::buildChain(model, model.number(64), std::vector<float>(64));
  const auto program = load(model, scratch);
  ShapePlanOptions options;
  options.guardBytes = 256;
  auto plan = makeShapePlan(program->metadata(), {}, options);
  ASSERT_TRUE(plan.isOk());
  for (const Slot &a : plan->slots) {
    EXPECT_LE(a.offset + a.sizeBytes + 256, plan->arenaBytes);
    for (const Slot &b : plan->slots)
      if (a.offset < b.offset && a.lastUse >= b.firstUse && b.lastUse >= a.firstUse) {
        EXPECT_GE(b.offset, a.offset + a.sizeBytes + 256);
      }
  }
}

TEST(ShapePlan, ArithmeticThatOverflowsIsRefused) {
  test::ScratchFolder scratch;
  TestModel model;
  test::buildChain(model, model.symbol("n", 0, 0), std::vector<float>(64));
  const auto program = load(model, scratch);
  const int64_t symbols[] = {INT64_MAX / 2};
  auto plan = makeShapePlan(program->metadata(), symbols, {});
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(plan.status().message().find("overflows 64 bits"), std::string::npos)
      << plan.status().message();
}

} // namespace
} // namespace gantry::program

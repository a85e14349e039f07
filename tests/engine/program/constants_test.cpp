// Tests layoutConstants(), which places the constants of a program in blocks of device memory.
#include "engine/program/constants.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

namespace gantry::program {
namespace {

using test::TestKernel;
using test::TestModel;

std::shared_ptr<const Program> programWithConstants(const test::ScratchFolder &scratch) {
  TestModel model;
  const uint32_t x = model.input("x", artifact::ElementType::f32, {model.number(1)});
  model.constant("a", std::vector<float>(1000));
  model.constant("b", std::vector<float>(64));
  model.constant("c", std::vector<float>(2000));
  model.fill("d", 3000, 1);
  model.fill("e", 1, 2);
  model.output("y", model.apply(TestKernel::kTwice, {x}, "Twice_0"));
  const std::string path = scratch.path("m.gantry");
  EXPECT_TRUE(model.write(path).isOk());
  return Program::load(path).take();
}

TEST(ConstantLayout, StoredConstantsThatFitOneBlockKeepTheirOffsets) {
  test::ScratchFolder scratch;
  const auto program = programWithConstants(scratch);
  auto layout = layoutConstants(*program, 1 << 20);
  ASSERT_TRUE(layout.isOk());
  ASSERT_EQ(layout->blocks.size(), 2u) << "one block for stored constants, one for fills";
  for (uint32_t v : {1u, 2u, 3u}) {
    EXPECT_EQ(layout->places[v].block, 0u);
    EXPECT_EQ(layout->places[v].offset, program->metadata().values()->Get(v)->byte_offset());
  }
  EXPECT_EQ(layout->places[4].offset, 0u);
  EXPECT_EQ(layout->places[5].offset, 12032u);
  EXPECT_EQ(layout->places[0].block, UINT32_MAX) << "the value is not a constant";
}

TEST(ConstantLayout, DividesBlocksBetweenConstants) {
  test::ScratchFolder scratch;
  const auto program = programWithConstants(scratch);
  constexpr uint64_t kMax = 12288;
  auto layout = layoutConstants(*program, kMax);
  ASSERT_TRUE(layout.isOk()) << layout.status().message();
  EXPECT_GT(layout->blocks.size(), 2u);
  for (uint32_t v : {1u, 2u, 3u, 4u, 5u}) {
    const ConstantLayout::Place &place = layout->places[v];
    const uint64_t size =
        static_cast<uint64_t>(*program->knownExprs()[program->metadata().values()->Get(v)->size()]);
    EXPECT_LE(place.offset + size, layout->blocks[place.block].sizeBytes);
    EXPECT_LE(layout->blocks[place.block].sizeBytes, kMax);
    EXPECT_EQ(place.offset % 256, 0u);
  }
}

TEST(ConstantLayout, RefusesAConstantAboveTheAllocationLimit) {
  test::ScratchFolder scratch;
  const auto program = programWithConstants(scratch);
  auto layout = layoutConstants(*program, 8192);
  ASSERT_FALSE(layout.isOk());
  EXPECT_EQ(layout.status().message(),
            "constant 'c' has 8000 bytes; a constant can have at most 7936 on this device");
}

} // namespace
} // namespace gantry::program

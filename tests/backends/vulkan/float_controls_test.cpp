// Tests withFloatControls() on a small module.
#include "backends/vulkan/float_controls.h"

#include <gtest/gtest.h>

namespace gantry::vulkan {
namespace {

/// The instructions: Capability Shader; MemoryModel Logical GLSL450; EntryPoint GLCompute %4 "m";
/// ExecutionMode %4 LocalSize 1 1 1; TypeFloat %5 32; TypeFloat %6 64.
const std::vector<uint32_t> kModule = {0x07230203,
                                       0x00010500,
                                       0,
                                       7,
                                       0, //
                                       2u << 16 | 17,
                                       1, //
                                       3u << 16 | 14,
                                       0,
                                       1, //
                                       4u << 16 | 15,
                                       5,
                                       4,
                                       0x6D, //
                                       6u << 16 | 16,
                                       4,
                                       17,
                                       1,
                                       1,
                                       1, //
                                       3u << 16 | 22,
                                       5,
                                       32,
                                       3u << 16 | 22,
                                       6,
                                       64};

TEST(FloatControls, AreAddedForTheWidthsOfTheModule) {
  FloatControls controls;
  controls.f16 = {true, true}; // The module has no f16.
  controls.f32 = {true, true};
  controls.f64 = {true, false};
  const std::vector<uint32_t> expected = {0x07230203,
                                          0x00010500,
                                          0,
                                          7,
                                          0, //
                                          2u << 16 | 17,
                                          4466,
                                          2u << 16 | 17,
                                          4464, //
                                          2u << 16 | 17,
                                          1, //
                                          3u << 16 | 14,
                                          0,
                                          1, //
                                          4u << 16 | 15,
                                          5,
                                          4,
                                          0x6D, //
                                          6u << 16 | 16,
                                          4,
                                          17,
                                          1,
                                          1,
                                          1, //
                                          4u << 16 | 16,
                                          4,
                                          4461,
                                          32,
                                          4u << 16 | 16,
                                          4,
                                          4461,
                                          64, //
                                          4u << 16 | 16,
                                          4,
                                          4459,
                                          32, //
                                          3u << 16 | 22,
                                          5,
                                          32,
                                          3u << 16 | 22,
                                          6,
                                          64};
  EXPECT_EQ(withFloatControls(kModule, controls), expected);
}

TEST(FloatControls, AModuleStaysAsItIsIfNothingCanBeAdded) {
  FloatControls controls;
  EXPECT_EQ(withFloatControls(kModule, controls), std::nullopt);
  controls.f16 = {true, true};
  EXPECT_EQ(withFloatControls(kModule, controls), std::nullopt);
  controls.f32 = {true, true};
  std::vector<uint32_t> older = kModule;
  older[1] = 0x00010300; // The modes need an extension before SPIR-V 1.4.
  EXPECT_EQ(withFloatControls(older, controls), std::nullopt);
}

TEST(FloatControls, DamagedModulesStayAsTheyAre) {
  FloatControls controls;
  controls.f32 = {true, true};
  for (size_t words = 0; words < 5; ++words)
    EXPECT_EQ(withFloatControls(std::span(kModule).first(words), controls), std::nullopt) << words;
  std::vector<uint32_t> endless = kModule;
  endless[5] = 17; // An instruction of no words.
  EXPECT_EQ(withFloatControls(endless, controls), std::nullopt);
  std::vector<uint32_t> cut(kModule.begin(), kModule.end() - 1);
  EXPECT_EQ(withFloatControls(cut, controls), std::nullopt);
}

} // namespace
} // namespace gantry::vulkan

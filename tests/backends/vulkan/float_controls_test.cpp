// Tests withFloatControls() on a small module.
#include "backends/vulkan/float_controls.h"

#include <gtest/gtest.h>
#include <spirv/unified1/spirv.hpp>

namespace gantry::vulkan {
namespace {

using Words = std::vector<uint32_t>;

/// Returns an instruction of SPIR-V.
Words instruction(spv::Op opcode, const Words &operands) {
  Words words{static_cast<uint32_t>((operands.size() + 1) << spv::WordCountShift | opcode)};
  words.insert(words.end(), operands.begin(), operands.end());
  return words;
}

Words mode(spv::ExecutionMode name, uint32_t bits) {
  return instruction(spv::OpExecutionMode, {4, static_cast<uint32_t>(name), bits});
}

Words capability(spv::Capability name) {
  return instruction(spv::OpCapability, {static_cast<uint32_t>(name)});
}

/// Returns a module of SPIR-V 1.5 with the entry point %4, the types f32 and f64, and these
/// instructions before its other capabilities and after its other execution modes.
Words moduleWith(const std::vector<Words> &capabilities, const std::vector<Words> &modes) {
  std::vector<Words> parts{{spv::MagicNumber, 0x00010500, 0, 7, 0}};
  parts.insert(parts.end(), capabilities.begin(), capabilities.end());
  parts.push_back(capability(spv::CapabilityShader));
  parts.push_back(instruction(spv::OpMemoryModel, {0, 1}));
  parts.push_back(instruction(spv::OpEntryPoint, {spv::ExecutionModelGLCompute, 4, 'm'}));
  parts.push_back(instruction(spv::OpExecutionMode, {4, spv::ExecutionModeLocalSize, 1, 1, 1}));
  parts.insert(parts.end(), modes.begin(), modes.end());
  parts.push_back(instruction(spv::OpTypeFloat, {5, 32}));
  parts.push_back(instruction(spv::OpTypeFloat, {6, 64}));
  Words module;
  for (const Words &part : parts)
    module.insert(module.end(), part.begin(), part.end());
  return module;
}

TEST(FloatControls, AreAddedForTheWidthsOfTheModule) {
  FloatControls controls;
  controls.f16 = {true, true}; // The module has no f16.
  controls.f32 = {true, true};
  controls.f64 = {true, false};
  EXPECT_EQ(withFloatControls(moduleWith({}, {}), controls),
            moduleWith({capability(spv::CapabilitySignedZeroInfNanPreserve),
                        capability(spv::CapabilityDenormPreserve)},
                       {mode(spv::ExecutionModeSignedZeroInfNanPreserve, 32),
                        mode(spv::ExecutionModeSignedZeroInfNanPreserve, 64),
                        mode(spv::ExecutionModeDenormPreserve, 32)}));
}

TEST(FloatControls, AModuleStaysAsItIsIfNothingCanBeAdded) {
  Words module = moduleWith({}, {});
  FloatControls controls;
  EXPECT_EQ(withFloatControls(module, controls), std::nullopt);
  controls.f16 = {true, true};
  EXPECT_EQ(withFloatControls(module, controls), std::nullopt);
  controls.f32 = {true, true};
  module[1] = 0x00010300; // Before SPIR-V 1.4 the modes need an extension.
  EXPECT_EQ(withFloatControls(module, controls), std::nullopt);
}

TEST(FloatControls, DamagedModulesStayAsTheyAre) {
  const Words module = moduleWith({}, {});
  FloatControls controls;
  controls.f32 = {true, true};
  ASSERT_NE(withFloatControls(module, controls), std::nullopt);
  for (size_t words = 0; words < 5; ++words)
    EXPECT_EQ(withFloatControls(std::span(module).first(words), controls), std::nullopt) << words;
  Words endless = module;
  endless[5] = spv::OpCapability; // An instruction of no words.
  EXPECT_EQ(withFloatControls(endless, controls), std::nullopt);
  EXPECT_EQ(withFloatControls(std::span(module).first(module.size() - 1), controls), std::nullopt);
}

} // namespace
} // namespace gantry::vulkan

// Tests the order in which a device tries the variants of an artifact, and the message that advises
// the user if the variant is not made for the device.
#include "engine/program/variant_choice.h"
#include "engine/program/constants.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <functional>
#include <gtest/gtest.h>

namespace gantry::program {
namespace {

class VariantChoice : public testing::Test {
protected:
  /// Writes and loads the model y = 2 x with the constants a, b and c and one variant per profile.
  /// change_ may change the program before it is written.
  std::shared_ptr<const Program> programFor(const std::vector<std::string> &profiles) {
    test::TestModel model;
    const uint32_t x = model.input("x", artifact::ElementType::f32, {model.number(1)});
    model.constant("a", std::vector<float>(1000));
    model.constant("b", std::vector<float>(64));
    model.constant("c", std::vector<float>(2000));
    model.output("y", model.apply(test::TestKernel::kTwice, {x}, "Twice_0"));
    const std::string alone = scratch_.path("alone.gantry"); // Provides the constants' offsets.
    EXPECT_TRUE(model.write(alone).isOk());
    const auto artifact = artifact::Artifact::open(alone).take();
    const std::unique_ptr<artifact::ProgramT> root(artifact->program().UnPack());
    root->source = "model.onnx";
    root->options = "--dim batch=1";
    root->chunks.clear(); // The writer adds them.
    for (size_t i = 1; i < profiles.size(); ++i) {
      auto variant = std::unique_ptr<artifact::ProgramT>(artifact->program().UnPack());
      variant->chunks.clear();
      variant->profile = profiles[i];
      root->variants.push_back(std::move(variant));
    }
    root->profile = profiles[0];
    if (change_)
      change_(*root);
    const Status written = artifact::write(path_, *root, {{0, artifact->constants()}});
    EXPECT_TRUE(written.isOk()) << written.message();
    auto program = Program::load(path_);
    EXPECT_TRUE(program.isOk()) << program.status().message();
    return program.take();
  }
  /// Returns the profile of a device with this name and the properties of a named profile.
  static DeviceProfile device(const std::string &profile, const std::string &name) {
    DeviceProfile result = namedProfile(profile).take();
    result.name = name;
    return result;
  }

  test::ScratchFolder scratch_;
  const std::string path_ = scratch_.path("m.gantry");
  std::function<void(artifact::ProgramT &)> change_;
  const DeviceProfile lavapipe_ = device("vulkan:lavapipe", "llvmpipe (LLVM 15.0.6, 256 bits)");
};

TEST_F(VariantChoice, TriesTheDevicesVariantThenTheBaselineThenOthers) {
  const auto program =
      programFor({"vulkan:nvidia-ampere", "vulkan:generic", "vulkan:lavapipe", "vulkan:staging"});
  EXPECT_EQ(variantOrder(*program, lavapipe_), (std::vector<size_t>{2, 1, 3, 0}));
  EXPECT_EQ(variantOrder(*program, device("vulkan:nvidia-ampere", "NVIDIA GeForce RTX 3090")),
            (std::vector<size_t>{0, 1, 3, 2}));
  EXPECT_EQ(variantOrder(*program, device("vulkan:generic", "Unknown GPU")),
            (std::vector<size_t>{1, 3, 0, 2}));
}

TEST_F(VariantChoice, AdvisesOnlyIfTheVariantIsNotMadeForTheDevice) {
  const auto both = programFor({"vulkan:generic", "vulkan:lavapipe"});
  EXPECT_EQ(variantAdvice(*both, 1, lavapipe_, "llvmpipe", ""), "");
  EXPECT_EQ(variantAdvice(*both, 0, device("vulkan:generic", "Unknown GPU"), "Unknown GPU", ""),
            "");
  EXPECT_EQ(variantAdvice(*both, 0, lavapipe_, "llvmpipe", "it lacks shaderInt64"),
            path_ +
                ": the variant preferred for llvmpipe cannot run on it (it lacks shaderInt64); the "
                "variant for vulkan:generic runs instead");

  const auto generic = programFor({"vulkan:generic"});
  EXPECT_EQ(variantAdvice(*generic, 0, lavapipe_, "llvmpipe", ""),
            path_ +
                " has no variant made for llvmpipe (vulkan:lavapipe); the variant for "
                "vulkan:generic runs instead, which may be several times slower. To make one: "
                "gantry compile model.onnx --dim batch=1 -p vulkan:generic -p vulkan:lavapipe "
                "-o " +
                path_);
  const auto foreign = programFor({"vulkan:nvidia-ampere"});
  EXPECT_NE(variantAdvice(*foreign, 0, lavapipe_, "llvmpipe", "")
                .find("vulkan:nvidia-ampere, made for other devices, runs instead"),
            std::string::npos);
}

TEST_F(VariantChoice, AVariantIsAProgram) {
  const auto program = programFor({"vulkan:generic", "vulkan:lavapipe"});
  EXPECT_TRUE(program->isWhole());
  EXPECT_EQ(program->variantCount(), 2u);
  auto variant = program->variant(1);
  ASSERT_TRUE(variant.isOk());
  EXPECT_EQ((*variant)->metadata().profile()->str(), "vulkan:lavapipe");
  EXPECT_EQ((*variant)->variantCount(), 2u);
  EXPECT_FALSE((*variant)->isWhole());
  EXPECT_EQ((*variant)->inputs().size(), 1u);
  EXPECT_EQ(program->variant(2).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(program->claimAdvice());
  EXPECT_FALSE(program->claimAdvice()) << "the advice is given once";
}

TEST_F(VariantChoice, ConstantsOfOtherVariantsAreNotUploaded) {
  // The second variant does not use b, which lies between a and c.
  change_ = [](artifact::ProgramT &root) {
    auto &values = root.variants[0]->values;
    for (auto &value : values)
      if (value->name == "b") {
        value->fill = true;
        value->byte_offset = 0;
      }
  };
  const auto program = programFor({"vulkan:generic", "vulkan:lavapipe"});
  auto whole = layoutConstants(*program, 1 << 20);
  auto part = layoutConstants(*program->variant(1).take(), 1 << 20);
  ASSERT_TRUE(whole.isOk() && part.isOk());
  EXPECT_EQ(whole->ranges.size(), 1u);
  ASSERT_EQ(part->ranges.size(), 2u);
  EXPECT_EQ(part->ranges[0].sectionEnd, 4000u);
  EXPECT_EQ(part->ranges[1].sectionBegin, 4352u);
  EXPECT_EQ(part->ranges[1].offset, 4096u) << "the ranges are adjacent on the device";
  EXPECT_EQ(part->places[3].offset, 4096u);
  EXPECT_EQ(whole->places[3].offset, 4352u);
}

} // namespace
} // namespace gantry::program

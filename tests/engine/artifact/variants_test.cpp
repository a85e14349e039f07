// Tests artifacts with variants: a model that is compiled for several device profiles.
#include "tests/engine/artifact/sample_program.h"

#include <gtest/gtest.h>

namespace gantry::artifact {
namespace {

/// Returns the sample program with a variant for another profile, after change(variant).
template <typename Change> ProgramT withVariant(Change change) {
  ProgramT root = staticProgram();
  auto variant = std::make_unique<ProgramT>(staticProgram());
  variant->profile = "vulkan:lavapipe";
  change(*variant);
  root.variants.push_back(std::move(variant));
  return root;
}

/// Writes the program to a temporary file and returns the status.
Status writeOf(ProgramT program) {
  const ScratchFolder folder;
  const std::vector<uint8_t> constant = sampleConstant();
  return write(folder.path("a"), program, {{0, constant}});
}

TEST(Variants, EqualKernelsAreStoredOnce) {
  const ScratchFolder folder;
  const std::vector<uint8_t> constant = sampleConstant();
  ProgramT written = withVariant([](ProgramT &variant) {
    auto other = std::make_unique<KernelT>(*variant.kernels[0]);
    other->name = "another";
    variant.kernels.push_back(std::move(other));
  });
  ASSERT_TRUE(write(folder.path("a"), written, {{0, constant}}).isOk());
  EXPECT_EQ(written.kernels.size(), 1u) << "write() changed the caller's program";
  const auto artifact = Artifact::open(folder.path("a"));
  ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
  const Program &root = (*artifact)->program();
  ASSERT_EQ(root.variants()->size(), 1u);
  const Program &variant = *root.variants()->Get(0);
  EXPECT_EQ(root.profile()->str(), "vulkan:generic");
  EXPECT_EQ(variant.profile()->str(), "vulkan:lavapipe");
  EXPECT_EQ(variant.commands()->size(), root.commands()->size());
  ASSERT_EQ(root.kernels()->size(), 1u);
  ASSERT_EQ(variant.kernels()->size(), 2u);
  EXPECT_EQ(variant.kernels()->Get(0), root.kernels()->Get(0)) << "the kernel is stored twice";
  EXPECT_NE(variant.kernels()->Get(1), root.kernels()->Get(0));
  EXPECT_EQ(variant.kernels()->Get(1)->name()->str(), "another");
}

TEST(Variants, MustHaveTheSameInterface) {
  EXPECT_TRUE(writeOf(withVariant([](ProgramT &) {})).isOk());
  const Status renamed = writeOf(withVariant([](ProgramT &v) { v.inputs[0]->name = "z"; }));
  EXPECT_NE(renamed.message().find("variants[0]: its inputs, outputs or symbols differ"),
            std::string::npos)
      << renamed.message();
  EXPECT_FALSE(writeOf(withVariant([](ProgramT &v) { v.outputs.clear(); })).isOk());
  for (const Status &status :
       {writeOf(withVariant([](ProgramT &v) { v.states.clear(); })),
        writeOf(withVariant([](ProgramT &v) { v.states[0]->capacity_bytes = 256; })),
        writeOf(withVariant([](ProgramT &v) {
          v.states[0]->order = {0, 1};
        }))})
    EXPECT_NE(status.message().find("variants[0]: its states differ"), std::string::npos)
        << status.message();
}

TEST(Variants, AreCheckedLikeTheProgram) {
  const Status status = writeOf(withVariant([](ProgramT &v) { v.commands[0]->kernel = 7; }));
  EXPECT_NE(status.message().find("variants[0]: commands[0]"), std::string::npos)
      << status.message();
  EXPECT_FALSE(writeOf(withVariant([](ProgramT &v) { v.chunks.emplace_back(0, 256, 0); })).isOk());
  EXPECT_FALSE(writeOf(withVariant([](ProgramT &v) {
                 v.variants.push_back(std::make_unique<ProgramT>(staticProgram()));
               })).isOk())
      << "a variant must not have variants";
}

} // namespace
} // namespace gantry::artifact

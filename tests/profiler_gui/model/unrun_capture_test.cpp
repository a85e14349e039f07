// Tests openUnrun(), which makes a capture from an artifact that was never run, on artifacts that
// the test writes.
#include "profiler_gui/model/capture/load_capture.h"

#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

#include <fstream>

namespace gantry::profiler {
namespace {

using test::TestKernel;
using test::TestModel;

TEST(UnrunCapture, AnArtifactShowsThePlanAndSharedMemoryOfEveryVariant) {
  TestModel model;
  const uint32_t x = model.input("x", test::ElementType::f32, {model.number(4096)});
  const uint32_t a = model.apply(TestKernel::kTwice, {x}, "Twice_0");
  const uint32_t b = model.apply(TestKernel::kTwice, {a}, "Twice_1");
  const uint32_t c = model.apply(TestKernel::kAdd, {a, b}, "Add_2");
  model.output("y", c);
  artifact::ProgramT &program = model.finish();
  // Gives the variants different shared memory, as different tiles would.
  for (auto &kernel : program.kernels) {
    for (size_t v = 0; v < kernel->variants.size(); ++v)
      kernel->variants[v]->shared_bytes = static_cast<uint32_t>(1024 * (v + 1));
  }
  const test::ScratchFolder scratch;
  const std::string path = scratch.path("unrun.gantry");
  ASSERT_TRUE(model.write(path).isOk());

  const Result<std::unique_ptr<LoadedCapture>> loaded = loadCapture(path);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  const CaptureModel &shown = (*loaded)->model;
  const size_t variants = program.kernels[0]->variants.size();
  ASSERT_GE(variants, 2u);
  ASSERT_EQ(shown.sessions().size(), variants);
  ASSERT_EQ(shown.plans().size(), variants);
  EXPECT_EQ(shown.dispatches().size(), variants * program.commands.size());
  for (uint32_t i = 0; i < shown.dispatches().size(); ++i) {
    const Dispatch &dispatch = shown.dispatches()[i];
    EXPECT_EQ(dispatch.sharedBytes, 1024 * (dispatch.run + 1));
    EXPECT_TRUE(dispatch.estimated);
  }
  for (const Plan &plan : shown.plans())
    EXPECT_EQ(plan.arenaBytes, program.arena_bytes);
  EXPECT_EQ(shown.unmatched(), 0u);
}

TEST(UnrunCapture, ThePlanOfADynamicArtifactNamesItsSizes) {
  TestModel model;
  const uint32_t n = model.symbol("n", 0, 0, 3);
  const uint32_t m = model.symbol("m", 1, 0, 1, 64);
  const uint32_t x = model.input("x", test::ElementType::f32, {n});
  const uint32_t y = model.input("y", test::ElementType::f32, {m});
  model.output("u", model.apply(TestKernel::kTwice, {x}, "Twice_0"));
  model.output("v", model.apply(TestKernel::kTwice, {y}, "Twice_1"));
  model.finish();
  const test::ScratchFolder scratch;
  const std::string path = scratch.path("dynamic.gantry");
  ASSERT_TRUE(model.write(path).isOk());
  const Result<std::unique_ptr<LoadedCapture>> loaded = loadCapture(path);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  const CaptureModel &shown = (*loaded)->model;
  ASSERT_FALSE(shown.plans().empty());
  EXPECT_EQ(shown.text(shown.plans()[0].shapes), "n=3 m=64");
}

TEST(UnrunCapture, AFileThatIsNotAnArtifactIsRefused) {
  const test::ScratchFolder scratch;
  const std::string path = scratch.path("broken.gantry");
  std::ofstream(path) << "no artifact";
  EXPECT_FALSE(loadCapture(path).isOk());
  EXPECT_EQ(loadCapture(scratch.path("absent.gantry")).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(loadCapture(scratch.path("absent.gtrace")).isOk());
}

} // namespace
} // namespace gantry::profiler

// Injects faults into sessions (SessionOptions::hooks). The memory check (memory_check.h) or the
// checker of barriers (checkHazards() in hazards.h) must find each of them and name the value or
// the commands. A value that is read before it is written must spoil the result with NaNs.
#include "tests/engine/program/session_fixture.h"

#include <cstring>

namespace gantry::program {
namespace {

class InjectedFaults : public SessionFixture, public testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(All, InjectedFaults, testing::Bool(), [](const auto &info) {
  return info.param ? "dynamicShape" : "staticShape";
});

TEST_P(InjectedFaults, TheMemoryCheckFindsAnOutputThatIsShiftedByOneElement) {
  const char *values[] = {"Twice_0:0", "Add_1:0", "Add_1:0", "Add_3:0", "out"};
  options_.binding = BindingChoice::kAddress;
  options_.checkMemory = true;
  for (uint32_t command = 0; command < 5; ++command) {
    options_.hooks.shiftOutputOfCommand = command;
    openChain(GetParam(), 100);
    std::vector<float> in = ramp(100, 1), out(100);
    const TensorArgument inputs[] = {tensor(in)}, outputs[] = {tensor(out)};
    std::vector<OutputShape> shapes;
    auto run = session_->submit(inputs, outputs, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    auto done = (*run)->wait(UINT64_MAX);
    ASSERT_FALSE(done.isOk()) << "command " << command;
    EXPECT_EQ(done.status().code(), StatusCode::kInternal);
    EXPECT_EQ(done.status().message(), "memory check: a kernel wrote past the end of '" +
                                           std::string(values[command]) +
                                           "' (400 bytes), at byte 400");
    EXPECT_EQ((*run)->wait(0).status().message(), done.status().message())
        << "a second wait returns the same error";
  }
}

TEST_P(InjectedFaults, EveryBarrierIsNecessary) {
  options_.binding = BindingChoice::kStorageBuffer; // Validation does not see device addresses.
  for (uint32_t command = 1; command < 5; ++command) {
    options_.hooks.dropBarrierBefore = command;
    openChain(GetParam(), 100);
    testing::internal::CaptureStderr();
    const Status status = runChain(100);
    const std::string printed = testing::internal::GetCapturedStderr();
    expectedMessages_ += 1; // Synchronization validation also reports the hazard.
    EXPECT_NE(printed.find("SYNC-HAZARD-READ-AFTER-WRITE"), std::string::npos) << printed;
    ASSERT_FALSE(status.isOk()) << "command " << command;
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_NE(status.message().find("no barrier between"), std::string::npos) << status.message();
  }
}

TEST_P(InjectedFaults, ATransientThatIsReadBeforeItIsWrittenHoldsNaN) {
  // The memory check fills the arena with NaNs. Add_1 reads a transient that no command writes.
  options_.checkMemory = true;
  test::TestModel model;
  const uint32_t n = GetParam() ? model.symbol("n", 0, 0) : model.number(100);
  const uint32_t x = model.input("x", artifact::ElementType::f32, {n});
  const uint32_t never = model.apply(test::TestKernel::kTwice, {x}, "Never_0");
  model.program().commands.clear(); // Removes the command that writes the transient.
  model.output("y", model.apply(test::TestKernel::kAdd, {x, never}, "Add_1"));
  open(model);
  std::vector<float> in = ramp(100, 1), out(100);
  const TensorArgument inputs[] = {tensor(in)}, outputs[] = {tensor(out)};
  std::vector<OutputShape> shapes;
  auto run = session_->submit(inputs, outputs, shapes);
  ASSERT_TRUE(run.isOk()) << run.status().message();
  ASSERT_TRUE((*run)->wait(UINT64_MAX).take());
  for (float value : out)
    ASSERT_NE(value, value) << "the value is not NaN";
}

} // namespace
} // namespace gantry::program

// Tests states on a device that is lost. The device is simulated in host memory and computes the
// kernels, so the bits of a training that was interrupted can be compared with those of one that
// was not.
#include "engine/program/session.h"
#include "tests/support/fake_device.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gantry::program {
namespace {

using artifact::ElementType;
using test::TestKernel;

constexpr int64_t kCount = 64;

float load(std::span<const uint8_t> bytes, uint64_t index) {
  float value;
  std::memcpy(&value, bytes.data() + 4 * index, 4);
  return value;
}

std::shared_ptr<test::FakeDevice> makeDevice() {
  test::FakeConfig config;
  config.kernels["add"] = [](const test::HostKernelCall &call) {
    for (uint64_t i = 0; i < call.dims[0]; ++i) {
      // The sum is scaled, so that the values depend on the order and the number of the runs.
      const float sum = 0.7f * load(call.buffers[0], i) + load(call.buffers[1], i);
      std::memcpy(call.buffers[2].data() + 4 * i, &sum, 4);
    }
  };
  return test::FakeDevice::create(std::move(config));
}

/// A session of the model w = f(w, x), m = f(m, w) with f(a, b) = 0.7 a + b, on a device of its
/// own. x is 1, 2, 3 ... in consecutive runs.
class Training {
public:
  explicit Training(const std::shared_ptr<const Program> &program)
      : device_(makeDevice()), heap_(heap::shareHeap(heap::Heap::create(device_, {}).take())) {
    SessionOptions options;
    options.cachePath = "";
    session_ = Session::create(program, heap_, options).take();
  }
  ~Training() {
    session_.reset();
    heap_.reset();
    EXPECT_EQ(device_->violations(), 0u) << device_->lastViolation();
  }

  static void write(test::TestModel &model) {
    const uint32_t n = model.number(kCount);
    const uint32_t w = model.input("w", ElementType::f32, {n});
    const uint32_t m = model.input("m", ElementType::f32, {n});
    const uint32_t x = model.input("x", ElementType::f32, {n});
    const uint32_t m1 = model.apply(TestKernel::kAdd, {m, w}, "Add_0");
    const uint32_t w1 = model.apply(TestKernel::kAdd, {w, x}, "Add_1");
    model.output("w1", w1);
    model.output("m1", m1);
    model.state(w, w1);
    model.state(m, m1);
  }
  void setUp() {
    const std::vector<float> zeros(kCount, 0);
    for (size_t i = 0; i < 2; ++i)
      ASSERT_TRUE(state()
                      .write(i, state().entries()[i].shape,
                             {reinterpret_cast<const uint8_t *>(zeros.data()), 4 * kCount})
                      .isOk());
  }
  Result<std::shared_ptr<Run>> submit(int number) {
    x_.assign(kCount, static_cast<float>(number));
    TensorArgument inputs[3], outputs[2];
    inputs[2].shape.dims = {kCount};
    inputs[2].data = x_.data();
    inputs[2].sizeBytes = 4 * kCount;
    std::vector<OutputShape> shapes;
    return session_->submit(inputs, outputs, shapes);
  }
  Status run(int number) {
    auto run = submit(number);
    return run.isOk() ? (*run)->wait(UINT64_MAX).status() : run.status();
  }
  std::vector<uint8_t> bits() {
    std::vector<uint8_t> bytes(8 * kCount);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(state().read(i, std::span(bytes).subspan(4 * kCount * i, 4 * kCount)).isOk());
    return bytes;
  }
  State &state() { return *session_->state(); }
  test::FakeDevice &device() { return *device_; }

private:
  std::shared_ptr<test::FakeDevice> device_;
  std::shared_ptr<heap::Heap> heap_;
  std::shared_ptr<Session> session_;
  std::vector<float> x_;
};

class StateLoss : public testing::Test {
protected:
  void SetUp() override {
    test::TestModel model("training");
    Training::write(model);
    ASSERT_TRUE(model.write(scratch_.path("m.gantry")).isOk());
    program_ = Program::load(scratch_.path("m.gantry")).take();
  }
  /// Expects that every access to the state is refused and names the state and the cause.
  void expectLost(Training &training, const std::string &cause) {
    std::vector<uint8_t> bytes(4 * kCount);
    State &state = training.state();
    const Status accesses[] = {
        training.run(1), state.read(0, bytes), state.save(scratch_.path("lost")),
        state.write(0, state.entries()[0].shape, bytes), state.restore(scratch_.path("save"))};
    for (const Status &access : accesses) {
      EXPECT_EQ(access.code(), StatusCode::kDeviceLost);
      EXPECT_NE(access.message().find("the state 'w' is not valid: " + cause), std::string::npos)
          << access.message();
      EXPECT_NE(access.message().find("open the device again, create a session, and restore the "
                                      "last save"),
                std::string::npos)
          << access.message();
    }
    for (const State::Entry &entry : state.entries())
      EXPECT_EQ(entry.condition, State::Condition::kInvalid) << entry.name;
    EXPECT_FALSE(std::filesystem::exists(scratch_.path("lost")));
  }

  test::ScratchFolder scratch_;
  std::shared_ptr<const Program> program_;
};

TEST_F(StateLoss, ARestoredSaveContinuesWithTheSameBits) {
  Training undisturbed(program_);
  undisturbed.setUp();
  for (int i = 1; i <= 20; ++i)
    ASSERT_TRUE(undisturbed.run(i).isOk());

  Training first(program_);
  first.setUp();
  for (int i = 1; i <= 10; ++i)
    ASSERT_TRUE(first.run(i).isOk());
  ASSERT_TRUE(first.state().save(scratch_.path("save")).isOk());
  ASSERT_TRUE(first.run(11).isOk());
  first.device().loseAtSubmission(1);
  EXPECT_EQ(first.run(12).code(), StatusCode::kDeviceLost);
  expectLost(first, "run 12 of program 'training' failed and may have changed it in part");

  Training second(program_); // The device was opened again.
  const Status restored = second.state().restore(scratch_.path("save"));
  ASSERT_TRUE(restored.isOk()) << restored.message();
  for (int i = 11; i <= 20; ++i)
    ASSERT_TRUE(second.run(i).isOk());
  EXPECT_EQ(second.bits(), undisturbed.bits());
}

TEST_F(StateLoss, ARunThatWasInFlightInvalidatesTheState) {
  Training training(program_);
  training.setUp();
  ASSERT_TRUE(training.state().save(scratch_.path("save")).isOk());
  training.device().hold();
  auto run = training.submit(1);
  ASSERT_TRUE(run.isOk()) << run.status().message();
  training.device().lose();
  expectLost(training, "the device 'fake' was lost");
  EXPECT_EQ((*run)->wait(UINT64_MAX).status().code(), StatusCode::kDeviceLost);
}

TEST_F(StateLoss, ALossBetweenRunsInvalidatesTheState) {
  Training training(program_);
  training.setUp();
  ASSERT_TRUE(training.run(1).isOk());
  ASSERT_TRUE(training.state().save(scratch_.path("save")).isOk());
  training.device().lose();
  EXPECT_FALSE(training.device().completed().isOk()); // This call notices the loss.
  expectLost(training, "the device 'fake' was lost, with its memory");
}

TEST_F(StateLoss, ARestorationThatFailsLeavesTheOldValuesOrNone) {
  Training training(program_);
  training.setUp();
  ASSERT_TRUE(training.run(1).isOk());
  ASSERT_TRUE(training.state().save(scratch_.path("first")).isOk());
  ASSERT_TRUE(training.run(2).isOk());
  ASSERT_TRUE(training.state().save(scratch_.path("second")).isOk());
  const std::vector<uint8_t> second = training.bits();
  int kept = 0, lost = 0;
  for (uint64_t call = 1; call <= 20;
       ++call) { // Each driver call of the restoration fails in turn.
    training.device().failCall(call, call % 2 ? StatusCode::kInternal : StatusCode::kOutOfMemory);
    const Status restored = training.state().restore(scratch_.path("first"));
    training.device().failCall(0);
    const std::vector<State::Entry> &entries = training.state().entries();
    ASSERT_EQ(entries[0].condition, entries[1].condition) << "call " << call;
    if (!restored.isOk() && entries[0].condition == State::Condition::kValid) {
      EXPECT_EQ(training.bits(), second) << "call " << call;
      ++kept;
    } else if (!restored.isOk()) {
      const Status refused = training.run(3);
      EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
      EXPECT_NE(refused.message().find("failed (a fault that the test injected)"),
                std::string::npos)
          << refused.message();
      ++lost;
    } else {
      EXPECT_NE(training.bits(), second) << "call " << call;
    }
    ASSERT_TRUE(training.state().restore(scratch_.path("second")).isOk());
    EXPECT_EQ(training.bits(), second);
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(lost, 0);
}

TEST_F(StateLoss, ARunThatTheDriverRefusesLeavesTheStateAsItIs) {
  Training training(program_);
  training.setUp();
  ASSERT_TRUE(training.run(1).isOk());
  const std::vector<uint8_t> before = training.bits();
  int refused = 0;
  for (uint64_t call = 1; call <= 40; ++call) { // Each driver call of a run fails in turn.
    training.device().failCall(call);
    auto run = training.submit(2);
    const bool submitted = run.isOk();
    if (!submitted) {
      ++refused;
      training.device().failCall(0);
      EXPECT_EQ(training.bits(), before) << "call " << call;
      continue;
    }
    const Status ended = (*run)->wait(UINT64_MAX).status();
    training.device().failCall(0);
    if (ended.isOk())
      break; // The run needs fewer calls.
    // The run was submitted, and its end is not known.
    std::vector<uint8_t> bytes(4 * kCount);
    EXPECT_EQ(training.state().read(0, bytes).code(), StatusCode::kFailedPrecondition);
    training.setUp();
    ASSERT_TRUE(training.run(1).isOk());
  }
  EXPECT_GT(refused, 0);
}

} // namespace
} // namespace gantry::program

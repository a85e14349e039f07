// Tests sessions on a fake device that prefers texel buffers: dispatches that use texel buffers,
// and dispatches that fall back to storage buffers because a tensor exceeds the device's limit.
#include "engine/program/session.h"
#include "tests/support/fake_device.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gantry::program {
namespace {

float load(std::span<const uint8_t> bytes, uint64_t index) {
  float value;
  std::memcpy(&value, bytes.data() + 4 * index, 4);
  return value;
}

void store(std::span<uint8_t> bytes, uint64_t index, float value) {
  std::memcpy(bytes.data() + 4 * index, &value, 4);
}

class TexelSession : public testing::Test {
protected:
  void SetUp() override {
    test::FakeConfig config;
    config.kernels["add"] = [](const test::HostKernelCall &call) {
      for (uint64_t i = 0; i < call.dims[0]; ++i)
        store(call.buffers[2], i, load(call.buffers[0], i) + load(call.buffers[1], i));
    };
    config.kernels["twice"] = [](const test::HostKernelCall &call) {
      for (uint64_t i = 0; i < call.dims[0]; ++i)
        store(call.buffers[1], i, 2 * load(call.buffers[0], i));
    };
    config.preferTexelLoads = true;
    config.maxTexelBufferElements = kTexels;
    device_ = test::FakeDevice::create(std::move(config));
    heap_ = heap::Heap::create(device_, {}).take();
    test::TestModel model;
    test::buildChain(model, model.symbol("n", 0, 0), std::vector<float>(kBias, 0.5f));
    const std::string path = scratch_.path("m.gantry");
    ASSERT_TRUE(model.write(path).isOk());
    program_ = Program::load(path).take();
  }
  void TearDown() override { EXPECT_EQ(device_->violations(), 0u) << device_->lastViolation(); }

  void open(BindingChoice choice) {
    SessionOptions options;
    options.binding = choice;
    options.timestamps = true;
    options.cachePath = "";
    auto session = Session::create(program_, heap_, options);
    ASSERT_TRUE(session.isOk()) << session.status().message();
    session_ = session.take();
  }

  /// Runs the chain for n elements. Returns one letter per dispatch: t: texel; s: storage buffer;
  /// a: address.
  std::string run(int64_t n) {
    std::vector<float> in(static_cast<size_t>(n), 3.0f), out(in.size());
    TensorArgument input, output;
    input.shape.dims = {n};
    input.data = in.data();
    output.data = out.data();
    input.sizeBytes = output.sizeBytes = 4 * in.size();
    std::vector<OutputShape> shapes;
    auto run = session_->submit({&input, 1}, {&output, 1}, shapes);
    if (!run.isOk())
      return run.status().message();
    EXPECT_TRUE((*run)->wait(UINT64_MAX).take());
    for (float value : out)
      EXPECT_EQ(value, test::chainResult(3.0f, 0.5f));
    std::string bindings;
    for (size_t i = 0; i < program_->metadata().commands()->size(); ++i)
      bindings += "?sat"[static_cast<int>(session_->dispatch(i).take().binding)];
    return bindings;
  }

  static constexpr uint64_t kTexels = 16;           // The device's limit: 64 floats.
  static constexpr size_t kBias = 4 * kTexels + 36; // Number of floats; exceeds the limit.
  test::ScratchFolder scratch_;
  std::shared_ptr<test::FakeDevice> device_;
  std::shared_ptr<heap::Heap> heap_;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<Session> session_;
};

// The chain is Twice, Add (with the bias), Twice, Add, Twice.
TEST_F(TexelSession, EachDispatchFallsBackIndependently) {
  open(BindingChoice::kAuto);
  EXPECT_EQ(session_->statistics().pipelines, 2u)
      << "the session creates the preferred pipelines before the first run";
  EXPECT_EQ(run(64), "tsttt") << "only the bias is too large";
  EXPECT_EQ(session_->statistics().pipelines, 3u);
  EXPECT_EQ(run(65), "sssss");
  EXPECT_EQ(session_->statistics().pipelines, 4u);
  EXPECT_EQ(run(1), "tsttt");
  EXPECT_EQ(session_->statistics().pipelines, 4u);
}

TEST_F(TexelSession, TheCallerMayChoose) {
  open(BindingChoice::kTexel);
  EXPECT_EQ(run(10), "tsttt");
  open(BindingChoice::kStorageBuffer);
  EXPECT_EQ(run(10), "sssss");
  open(BindingChoice::kAddress);
  EXPECT_EQ(run(10), "aaaaa");
}

} // namespace
} // namespace gantry::program

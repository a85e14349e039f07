// A test fixture with a session of a model from tests/support, on the first usable device with
// synchronization validation. Every test fails at its end if validation reported a message.
#pragma once

#include "backends/vulkan/vulkan.h"
#include "engine/program/session.h"
#include "tests/support/heap_validation.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

namespace gantry::program {

class SessionFixture : public testing::Test {
protected:
  void SetUp() override {
    setenv("GANTRY_VALIDATION", "sync", 1);
    auto opened = vulkan::openDevice("");
    ASSERT_TRUE(opened.isOk()) << opened.status().message();
    device_ = opened.take();
    auto heap = heap::Heap::create(device_, {});
    ASSERT_TRUE(heap.isOk()) << heap.status().message();
    heap_ = heap.take();
    options_.cachePath = "";
  }
  void TearDown() override {
    session_.reset();
    if (heap_) {
      EXPECT_EQ(validate(*heap_), nullptr);
    }
    if (device_) {
      EXPECT_EQ(device_->validationMessages(), expectedMessages_);
    }
  }

  void open(test::TestModel &model) {
    const std::string path = scratch_.path("m.gantry");
    const Status written = model.write(path);
    ASSERT_TRUE(written.isOk()) << written.message();
    program_ = Program::load(path).take();
    auto session = Session::create(program_, heap_, options_);
    ASSERT_TRUE(session.isOk()) << session.status().message();
    session_ = session.take();
  }
  /// Opens a session of the chain of test_model.h with bias[i] = i.
  void openChain(bool dynamic, int64_t n = 100) {
    test::TestModel model;
    std::vector<float> bias(10000);
    for (size_t i = 0; i < bias.size(); ++i)
      bias[i] = static_cast<float>(i);
    test::buildChain(model, dynamic ? model.symbol("n", 0, 0) : model.number(n), bias);
    open(model);
  }

  static TensorArgument tensor(std::vector<float> &values) {
    TensorArgument argument;
    argument.shape.dims = {static_cast<int64_t>(values.size())};
    argument.data = values.data();
    argument.sizeBytes = 4 * values.size();
    return argument;
  }
  static std::vector<float> ramp(int64_t n, float first) {
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = first + static_cast<float>(i % 17);
    return values;
  }
  static void expectChain(const std::vector<float> &in, const std::vector<float> &out) {
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], test::chainResult(in[i], static_cast<float>(i))) << i;
  }
  Status runChain(int64_t n, float first = 1) {
    std::vector<float> in = ramp(n, first), out(in.size(), -1);
    const TensorArgument inputs[] = {tensor(in)}, outputs[] = {tensor(out)};
    std::vector<OutputShape> shapes;
    auto run = session_->submit(inputs, outputs, shapes);
    if (!run.isOk())
      return run.status();
    auto done = (*run)->wait(UINT64_MAX);
    if (!done.isOk())
      return done.status();
    EXPECT_TRUE(*done);
    EXPECT_EQ(shapes[0].shape.dims, (std::vector<int64_t>{n}));
    expectChain(in, out);
    return {};
  }

  test::ScratchFolder scratch_;
  /// Allocates storage in unified memory; the size is rounded up to a multiple of 256 bytes.
  Storage makeBuffer(uint64_t sizeBytes) {
    return Storage::allocate(heap_, device::MemoryKind::kUnified, sizeBytes, "test").take();
  }

  std::shared_ptr<device::Device> device_;
  std::shared_ptr<heap::Heap> heap_;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<Session> session_;
  SessionOptions options_;
  uint64_t expectedMessages_ = 0;
};

} // namespace gantry::program

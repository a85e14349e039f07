// Tests the C++ wrapper gantry.hpp with the chain of test_model.h.
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gantry/gantry.hpp>
#include <gtest/gtest.h>

#include <cstring>

namespace {

namespace test = gantry::test;

TEST(Wrapper, RunsAModel) {
  test::ScratchFolder scratch;
  test::TestModel model;
  test::buildChain(model, model.symbol("n", 0, 0), std::vector<float>(100, 1.0f));
  const std::string path = scratch.path("m.gantry");
  ASSERT_TRUE(model.write(path).isOk());

  auto program = gantry::Program::load(path);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_STREQ(program->inputs()[0].dim_names[0], "n");
  EXPECT_EQ(program->outputs().size(), 1u);
  auto text = program->describe({5});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("\"size_bytes\": 20"), std::string::npos);

  auto device = gantry::Device::open();
  ASSERT_TRUE(device) << device.error().message();
  EXPECT_STREQ(device->info().backend, "vulkan");
  auto heaps = device->memoryHeaps();
  ASSERT_TRUE(heaps) << heaps.error().message();
  ASSERT_FALSE(heaps->empty());
  EXPECT_GT((*heaps)[0].size_bytes, 0u);
  gantry_session_options_t options = {};
  options.struct_size = sizeof(options);
  options.cache_path = "";
  auto session = gantry::Session::create(*program, *device, &options);
  ASSERT_TRUE(session) << session.error().message();
  auto buffer = gantry::Buffer::create(*device, 20);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->size(), 20u);

  float in[5] = {1, 2, 3, 4, 5};
  std::vector<gantry_tensor_t> inputs(1), outputs(1);
  inputs[0].rank = 1;
  inputs[0].dims[0] = 5;
  inputs[0].data = in;
  inputs[0].size_bytes = sizeof(in);
  outputs[0].buffer = buffer->get();
  outputs[0].size_bytes = 20;
  ASSERT_TRUE(session->run(inputs, outputs).ok());
  {
    auto run = session->submit(inputs, outputs);
    ASSERT_TRUE(run);
    EXPECT_FALSE(run->donate(std::move(*buffer)).ok()); // The buffer is an output of the run.
    ASSERT_NE(buffer->get(), nullptr);
    EXPECT_TRUE(*run->wait());
  }
  {
    auto given = gantry::Buffer::create(*device, 20);
    ASSERT_TRUE(given);
    std::memcpy(given->data(), in, sizeof(in));
    inputs[0].data = nullptr;
    inputs[0].buffer = given->get();
    auto run = session->submit(inputs, outputs);
    ASSERT_TRUE(run);
    EXPECT_TRUE(given->check().ok());
    EXPECT_TRUE(run->donate(std::move(*given)).ok());
    EXPECT_TRUE(*run->wait());
    // The run has taken the buffer, so each later use is refused with the run's name.
    const std::string taken = "the buffer 'buffers' was donated to run 3 of program 'test' "
                              "(gantry_run_donate) and cannot be used any more";
    EXPECT_EQ(given->check().status(), GANTRY_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(given->check().message(), taken);
    EXPECT_EQ(given->data(), nullptr);
    EXPECT_EQ(given->size(), 0u);
    EXPECT_EQ(session->run(inputs, outputs).message(), "input 0: " + taken);
    auto later = session->submit(inputs, outputs);
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().message(), "input 0: " + taken);
    EXPECT_EQ(run->donate(std::move(*given)).message(), taken);
    inputs[0].buffer = nullptr;
    inputs[0].data = in;
  }
  const auto *out = static_cast<const float *>(buffer->data());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(out[i], test::chainResult(in[i], 1));
  EXPECT_EQ(session->statistics().runs, 3u);

  inputs[0].rank = 2;
  const gantry::Error error = session->run(inputs, outputs);
  EXPECT_EQ(error.status(), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "input 'in' must be f32 [n], not f32 [5, 0]");
}

TEST(Wrapper, AMovedBufferCannotBeUsed) {
  auto device = gantry::Device::open();
  ASSERT_TRUE(device);
  auto buffer = gantry::Buffer::create(*device, 16);
  ASSERT_TRUE(buffer);
  const gantry::Buffer moved = std::move(*buffer);
  EXPECT_TRUE(moved.check().ok());
  EXPECT_EQ(buffer->check().message(), "gantry_buffer_size: buffer must not be NULL");
}

TEST(Wrapper, StatesKeepTheirValue) {
  test::ScratchFolder scratch;
  test::TestModel model;
  const uint32_t w = model.input("w", test::ElementType::f32, {model.number(4)});
  const uint32_t next = model.apply(test::TestKernel::kTwice, {w}, "Twice_0");
  model.output("w_next", next);
  model.state(w, next);
  ASSERT_TRUE(model.write(scratch.path("m.gantry")).isOk());
  auto program = gantry::Program::load(scratch.path("m.gantry"));
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_EQ(program->states().size(), 1u);
  EXPECT_STREQ(program->states()[0].name, "w");
  auto device = gantry::Device::open();
  ASSERT_TRUE(device);
  auto shared = gantry::State::create(*program, *device);
  ASSERT_TRUE(shared) << shared.error().message();
  gantry_session_options_t options = {};
  options.struct_size = sizeof(options);
  options.cache_path = "";
  options.state = shared->get();
  auto session = gantry::Session::create(*program, *device, &options);
  ASSERT_TRUE(session) << session.error().message();
  auto state = session->state();
  ASSERT_TRUE(state);
  ASSERT_EQ(state->entries().size(), 1u);
  EXPECT_EQ(state->entries()[0].condition, GANTRY_STATE_UNSET);
  float values[4] = {1, 2, 3, 4};
  gantry_tensor_t tensor = {};
  tensor.rank = 1;
  tensor.dims[0] = 4;
  tensor.data = values;
  tensor.size_bytes = sizeof(values);
  ASSERT_TRUE(shared->write("w", tensor).ok());
  ASSERT_TRUE(shared->save(scratch.path("s")).ok());
  std::vector<gantry_tensor_t> inputs(1), outputs(1);
  ASSERT_TRUE(session->run(inputs, outputs).ok());
  ASSERT_TRUE(state->read("w", tensor).ok());
  EXPECT_EQ(values[3], 8);
  ASSERT_TRUE(state->restore(scratch.path("s")).ok());
  ASSERT_TRUE(state->read("w", tensor).ok());
  EXPECT_EQ(values[3], 4);
  auto buffer = gantry::Buffer::create(*device, 256);
  ASSERT_TRUE(buffer);
  std::memcpy(buffer->data(), values, sizeof(values));
  tensor.data = nullptr;
  tensor.buffer = buffer->get();
  ASSERT_TRUE(state->bind("w", tensor).ok());
  ASSERT_TRUE(session->run(inputs, outputs).ok());
  EXPECT_EQ(static_cast<const float *>(buffer->data())[3], 8);
  EXPECT_EQ(state->read("v", tensor).status(), GANTRY_STATUS_NOT_FOUND);
}

TEST(Wrapper, FailuresCarryTheirMessage) {
  auto program = gantry::Program::load("/no/such/file.gantry");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().status(), GANTRY_STATUS_NOT_FOUND);
  EXPECT_NE(program.error().message().find("/no/such/file.gantry"), std::string::npos);
  auto device = gantry::Device::open("no such device");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().status(), GANTRY_STATUS_NOT_FOUND);
}

} // namespace

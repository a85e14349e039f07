// Tests the states of gantry.h through libgantry.so: 50 tensors that 1,000 runs update in place,
// and each function with valid and with wrong arguments.
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gantry/gantry.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace {

namespace test = gantry::test;

class CState : public testing::Test {
protected:
  static constexpr int64_t kCount = 100;

  void SetUp() override {
    ASSERT_EQ(gantry_device_create(nullptr, &device_), GANTRY_STATUS_OK) << gantry_last_error();
    options_.struct_size = sizeof(options_);
    options_.cache_path = "";
  }
  void TearDown() override {
    EXPECT_EQ(gantry_device_validation_messages(device_), 0u);
    gantry_state_release(state_);
    gantry_session_release(session_);
    gantry_program_release(program_);
    gantry_device_release(device_);
  }
  void load(test::TestModel &model) {
    const std::string path = scratch_.path("m.gantry");
    ASSERT_TRUE(model.write(path).isOk());
    ASSERT_EQ(gantry_program_load(path.c_str(), &program_), GANTRY_STATUS_OK)
        << gantry_last_error();
  }
  void open() {
    ASSERT_EQ(gantry_session_create(program_, device_, &options_, &session_), GANTRY_STATUS_OK)
        << gantry_last_error();
    ASSERT_EQ(gantry_session_state(session_, &state_), GANTRY_STATUS_OK) << gantry_last_error();
  }
  /// Opens a session of a program that computes w = w + x, with a dynamic length of at most kCount.
  void openStep() {
    test::TestModel model("step");
    const uint32_t n = model.symbol("n", 0, 0, 1, kCount);
    const uint32_t w = model.input("w", test::ElementType::f32, {n});
    const uint32_t x = model.input("x", test::ElementType::f32, {n});
    const uint32_t next = model.apply(test::TestKernel::kAdd, {w, x}, "Add_0");
    model.output("w_next", next);
    model.state(w, next, 4 * kCount);
    load(model);
    open();
  }
  static gantry_tensor_t tensor(std::vector<float> &values) {
    gantry_tensor_t t = {};
    t.rank = 1;
    t.dims[0] = static_cast<int64_t>(values.size());
    t.data = values.data();
    t.size_bytes = 4 * values.size();
    return t;
  }
  gantry_state_info_t info() {
    gantry_state_info_t result = {};
    result.struct_size = sizeof(result);
    EXPECT_EQ(gantry_state_get_info(state_, 0, &result), GANTRY_STATUS_OK);
    return result;
  }
  /// Sets liveBytes to the live bytes of all memory kinds together. Returns the statistics of the
  /// last kind; their driver_allocations count the allocations of all kinds.
  gantry_memory_statistics_t memory(uint64_t &liveBytes) {
    gantry_memory_statistics_t statistics = {};
    liveBytes = 0;
    for (int kind = 0; kind < GANTRY_MEMORY_KIND_COUNT; ++kind) {
      statistics.struct_size = sizeof(statistics);
      EXPECT_EQ(gantry_device_memory_statistics(device_, static_cast<gantry_memory_kind_t>(kind),
                                                &statistics),
                GANTRY_STATUS_OK);
      liveBytes += statistics.live_bytes;
    }
    return statistics;
  }
  static void expectError(gantry_status_t status, gantry_status_t expected, const char *words) {
    EXPECT_EQ(status, expected);
    EXPECT_NE(std::string(gantry_last_error()).find(words), std::string::npos)
        << gantry_last_error();
  }

  test::ScratchFolder scratch_;
  gantry_device_t *device_ = nullptr;
  gantry_program_t *program_ = nullptr;
  gantry_session_t *session_ = nullptr;
  gantry_state_t *state_ = nullptr;
  gantry_session_options_t options_ = {};
};

TEST_F(CState, AThousandRunsUpdateFiftyTensorsInPlace) {
  constexpr int kTensors = 50, kRuns = 1000;
  const auto countOf = [](int tensor) { return int64_t{64} + 16 * tensor; };
  const auto nameOf = [](std::string kind, int tensor) {
    return kind.append(std::to_string(tensor));
  };
  test::TestModel model("fifty");
  uint64_t stateBytes = 0, gradientBytes = 0;
  std::vector<std::vector<float>> expected, gradients;
  std::vector<gantry_tensor_t> inputs(2 * kTensors), outputs(kTensors);
  for (int i = 0; i < kTensors; ++i) {
    const uint32_t n = model.number(countOf(i));
    const uint32_t p = model.input(nameOf("p", i), test::ElementType::f32, {n});
    const uint32_t g = model.input(nameOf("g", i), test::ElementType::f32, {n});
    const uint32_t next = model.apply(test::TestKernel::kAdd, {p, g}, nameOf("Add_", i));
    model.output(nameOf("next", i), next);
    model.state(p, next);
    const uint64_t bytes = (4 * static_cast<uint64_t>(countOf(i)) + 255) / 256 * 256;
    stateBytes += bytes;
    gradientBytes += bytes;
    expected.emplace_back(countOf(i), static_cast<float>(i));
    gradients.emplace_back(countOf(i), 0.001f * static_cast<float>(i + 1));
  }
  load(model);
  open();
  for (int i = 0; i < kTensors; ++i) {
    const gantry_tensor_t value = tensor(expected[i]);
    ASSERT_EQ(gantry_state_write(state_, nameOf("p", i).c_str(), &value), GANTRY_STATUS_OK)
        << gantry_last_error();
    inputs[2 * i + 1] = tensor(gradients[i]);
  }
  uint64_t liveAfterFirst = 0, live = 0;
  gantry_memory_statistics_t afterFirst = {};
  for (int run = 0; run < kRuns; ++run) {
    ASSERT_EQ(
        gantry_session_run(session_, inputs.data(), inputs.size(), outputs.data(), outputs.size()),
        GANTRY_STATUS_OK)
        << gantry_last_error();
    if (run == 0)
      afterFirst = memory(liveAfterFirst);
    for (int i = 0; i < kTensors; ++i)
      for (size_t k = 0; k < expected[i].size(); ++k)
        expected[i][k] += gradients[i][k];
  }
  const gantry_memory_statistics_t atEnd = memory(live);
  EXPECT_EQ(atEnd.driver_allocations, afterFirst.driver_allocations);
  EXPECT_EQ(atEnd.peak_live_bytes, afterFirst.peak_live_bytes);
  EXPECT_EQ(live, liveAfterFirst);
  gantry_statistics_t statistics;
  gantry_session_statistics(session_, &statistics);
  EXPECT_EQ(statistics.recordings, 1u);
  // The device's memory holds the states, once, and the inputs of the session: nothing else.
  EXPECT_EQ(statistics.arena_bytes, 0u);
  EXPECT_EQ(statistics.io_bytes, gradientBytes);
  EXPECT_EQ(live, stateBytes + statistics.reserved_bytes);
  for (int i = 0; i < kTensors; ++i) {
    std::vector<float> values(expected[i].size());
    gantry_tensor_t read = tensor(values);
    ASSERT_EQ(gantry_state_read(state_, nameOf("p", i).c_str(), &read), GANTRY_STATUS_OK);
    ASSERT_EQ(values, expected[i]) << "tensor " << i;
  }
}

TEST_F(CState, AProgramListsItsStates) {
  openStep();
  ASSERT_EQ(gantry_program_state_count(program_), 1u);
  gantry_state_port_t port = {};
  EXPECT_EQ(gantry_program_state(program_, 0, &port), GANTRY_STATUS_INVALID_ARGUMENT)
      << "struct_size is not set";
  port.struct_size = sizeof(port);
  ASSERT_EQ(gantry_program_state(program_, 0, &port), GANTRY_STATUS_OK);
  EXPECT_STREQ(port.name, "w");
  EXPECT_EQ(port.input, 0u);
  EXPECT_EQ(port.output, 0u);
  EXPECT_EQ(port.capacity_bytes, uint64_t{4} * kCount);
  EXPECT_EQ(port.has_initial, 0);
  expectError(gantry_program_state(program_, 1, &port), GANTRY_STATUS_INVALID_ARGUMENT,
              "there is no state 1; the program has 1, numbered from 0");
}

TEST_F(CState, AnEntryIsWrittenRunReadSavedAndRestored) {
  openStep();
  ASSERT_EQ(gantry_state_count(state_), 1u);
  EXPECT_EQ(info().condition, GANTRY_STATE_UNSET);
  EXPECT_EQ(info().dims[0], GANTRY_DYNAMIC);
  std::vector<float> w = {1, 2, 3}, x = {10, 20, 30};
  const gantry_tensor_t value = tensor(w);
  ASSERT_EQ(gantry_state_write(state_, "w", &value), GANTRY_STATUS_OK) << gantry_last_error();
  EXPECT_EQ(info().condition, GANTRY_STATE_VALID);
  EXPECT_EQ(info().dims[0], 3);
  EXPECT_EQ(info().size_bytes, 12u);
  EXPECT_EQ(info().capacity_bytes, uint64_t{4} * kCount);
  gantry_tensor_t inputs[2] = {}, output = {};
  inputs[1] = tensor(x);
  ASSERT_EQ(gantry_session_output_shapes(session_, inputs, 2, &output, 1), GANTRY_STATUS_OK)
      << gantry_last_error();
  EXPECT_EQ(output.dims[0], 3);
  ASSERT_EQ(gantry_session_run(session_, inputs, 2, &output, 1), GANTRY_STATUS_OK)
      << gantry_last_error();
  EXPECT_EQ(output.size_bytes, 12u);
  const std::string save = scratch_.path("save");
  ASSERT_EQ(gantry_state_save(state_, save.c_str()), GANTRY_STATUS_OK) << gantry_last_error();
  ASSERT_EQ(gantry_session_run(session_, inputs, 2, &output, 1), GANTRY_STATUS_OK);
  std::vector<float> read(kCount);
  gantry_tensor_t target = tensor(read);
  ASSERT_EQ(gantry_state_read(state_, "w", &target), GANTRY_STATUS_OK) << gantry_last_error();
  EXPECT_EQ(target.dims[0], 3);
  EXPECT_EQ(target.size_bytes, 12u);
  EXPECT_EQ(read[2], 63);
  ASSERT_EQ(gantry_state_restore(state_, save.c_str()), GANTRY_STATUS_OK) << gantry_last_error();
  target = tensor(read);
  ASSERT_EQ(gantry_state_read(state_, "w", &target), GANTRY_STATUS_OK);
  EXPECT_EQ(read[2], 33);
}

TEST_F(CState, TrainingAndEvaluationShareTheirParameters) {
  openStep();
  test::TestModel model("evaluation");
  const uint32_t n = model.symbol("n", 0, 0, 1, kCount);
  const uint32_t w = model.input("w", test::ElementType::f32, {n});
  model.output("y", model.apply(test::TestKernel::kTwice, {w}, "Twice_0"));
  model.state(w, std::nullopt, 4 * kCount);
  const std::string path = scratch_.path("evaluation.gantry");
  ASSERT_TRUE(model.write(path).isOk());
  gantry_program_t *program = nullptr;
  ASSERT_EQ(gantry_program_load(path.c_str(), &program), GANTRY_STATUS_OK);
  gantry_state_port_t port = {};
  port.struct_size = sizeof(port);
  ASSERT_EQ(gantry_program_state(program, 0, &port), GANTRY_STATUS_OK);
  EXPECT_EQ(port.output, GANTRY_NO_OUTPUT);
  options_.state = state_;
  gantry_session_t *evaluation = nullptr;
  ASSERT_EQ(gantry_session_create(program, device_, &options_, &evaluation), GANTRY_STATUS_OK)
      << gantry_last_error();
  std::vector<float> values = {1, 2, 3}, x = {1, 1, 1}, y(3);
  const gantry_tensor_t first = tensor(values);
  ASSERT_EQ(gantry_state_write(state_, "w", &first), GANTRY_STATUS_OK);
  gantry_tensor_t inputs[2] = {}, next = {};
  inputs[1] = tensor(x);
  for (int step = 1; step <= 10; ++step) { // The evaluation is submitted while the step runs.
    gantry_run_t *run = nullptr;
    ASSERT_EQ(gantry_session_submit(session_, inputs, 2, &next, 1, &run), GANTRY_STATUS_OK)
        << gantry_last_error();
    gantry_tensor_t none = {}, output = tensor(y);
    ASSERT_EQ(gantry_session_run(evaluation, &none, 1, &output, 1), GANTRY_STATUS_OK)
        << gantry_last_error();
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], 2 * (values[i] + static_cast<float>(step)));
    ASSERT_EQ(gantry_run_wait(run, UINT64_MAX, nullptr), GANTRY_STATUS_OK);
    gantry_run_release(run);
  }
  gantry_session_release(evaluation);
  gantry_program_release(program);
}

TEST_F(CState, TheOrderOfAnEntrysElementsIsTold) {
  openStep();
  EXPECT_EQ(info().stored_dims[0], 0u);
  gantry_state_release(std::exchange(state_, nullptr));
  gantry_session_release(std::exchange(session_, nullptr));
  gantry_program_release(std::exchange(program_, nullptr));
  test::TestModel model;
  const uint32_t w =
      model.input("w", test::ElementType::f32, {model.number(2), model.number(3), model.number(4)});
  model.output("y", model.apply(test::TestKernel::kTwice, {w}, "Twice_0"));
  model.state(w);
  model.order({2, 0, 1});
  load(model);
  open();
  gantry_state_info_t entry = info();
  EXPECT_EQ(std::vector<uint32_t>(entry.stored_dims, entry.stored_dims + 4),
            (std::vector<uint32_t>{2, 0, 1, 0}));
  EXPECT_EQ(std::vector<int64_t>(entry.dims, entry.dims + 3), (std::vector<int64_t>{2, 3, 4}));
  // A caller whose struct ends before the order gets everything else, and nothing beyond its end.
  entry.struct_size = offsetof(gantry_state_info_t, stored_dims);
  entry.rank = 0;
  entry.stored_dims[0] = 77;
  ASSERT_EQ(gantry_state_get_info(state_, 0, &entry), GANTRY_STATUS_OK);
  EXPECT_EQ(entry.rank, 3u);
  EXPECT_EQ(entry.stored_dims[0], 77u);
  entry.struct_size -= 1;
  expectError(gantry_state_get_info(state_, 0, &entry), GANTRY_STATUS_INVALID_ARGUMENT,
              ("set it to its sizeof, " + std::to_string(sizeof(entry))).c_str());
}

TEST_F(CState, WrongArgumentsAreRefused) {
  openStep();
  std::vector<float> values = {1, 2, 3};
  gantry_tensor_t value = tensor(values);
  expectError(gantry_state_write(state_, "v", &value), GANTRY_STATUS_NOT_FOUND,
              "there is no state 'v'; there are 'w'");
  value.rank = 2;
  expectError(gantry_state_write(state_, "w", &value), GANTRY_STATUS_INVALID_ARGUMENT,
              "the state 'w' must be f32 [?], not f32 [3, 0]");
  value = tensor(values);
  value.type = GANTRY_TYPE_I32;
  expectError(gantry_state_write(state_, "w", &value), GANTRY_STATUS_INVALID_ARGUMENT,
              "must be f32 [?], not i32 [3]");
  value = tensor(values);
  value.size_bytes = 8;
  expectError(gantry_state_write(state_, "w", &value), GANTRY_STATUS_INVALID_ARGUMENT,
              "8 bytes given, but f32 [3] has 12");
  value = tensor(values);
  value.data = nullptr;
  expectError(gantry_state_write(state_, "w", &value), GANTRY_STATUS_INVALID_ARGUMENT,
              "written from host memory");
  value = tensor(values);
  expectError(gantry_state_read(state_, "w", &value), GANTRY_STATUS_FAILED_PRECONDITION,
              "has no value yet");
  ASSERT_EQ(gantry_state_write(state_, "w", &value), GANTRY_STATUS_OK);
  value.size_bytes = 8;
  expectError(gantry_state_read(state_, "w", &value), GANTRY_STATUS_INVALID_ARGUMENT,
              "has 12 bytes, but there is room for 8");
  expectError(gantry_state_restore(state_, scratch_.path("m.gantry").c_str()),
              GANTRY_STATUS_INVALID_ARGUMENT, "is not a state file");
  gantry_device_t *device = nullptr;
  ASSERT_EQ(gantry_device_create(nullptr, &device), GANTRY_STATUS_OK);
  options_.state = state_;
  gantry_session_t *session = nullptr;
  expectError(gantry_session_create(program_, device, &options_, &session),
              GANTRY_STATUS_INVALID_ARGUMENT, "the state belongs to another device");
  gantry_device_release(device);
}

TEST_F(CState, AProgramWithoutStatesHasNone) {
  test::TestModel model;
  test::buildChain(model, model.number(16), std::vector<float>(16, 1.0f));
  load(model);
  EXPECT_EQ(gantry_program_state_count(program_), 0u);
  expectError(gantry_state_create(program_, device_, &state_), GANTRY_STATUS_FAILED_PRECONDITION,
              "gantry compile --state");
  ASSERT_EQ(gantry_session_create(program_, device_, &options_, &session_), GANTRY_STATUS_OK);
  expectError(gantry_session_state(session_, &state_), GANTRY_STATUS_FAILED_PRECONDITION,
              "has no states");
}

} // namespace

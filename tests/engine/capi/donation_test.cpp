// Tests that every use of a donated buffer is refused, with the names of the buffer and of the run
// that took it, and that a buffer that something else uses cannot be donated.
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gantry/gantry.h>
#include <gtest/gtest.h>

#include <cstring>

namespace {

namespace test = gantry::test;

class Donation : public testing::Test {
protected:
  static constexpr uint32_t kCount = 100;
  static constexpr uint64_t kBytes = 4 * kCount;

  void SetUp() override {
    ASSERT_EQ(gantry_device_create(nullptr, &device_), GANTRY_STATUS_OK) << gantry_last_error();
    test::TestModel model("double");
    const uint32_t x = model.input("x", test::ElementType::f32, {model.number(kCount)});
    const uint32_t w = model.input("w", test::ElementType::f32, {model.number(kCount)});
    model.output("y", model.apply(test::TestKernel::kAdd, {x, w}, "Add_0"));
    model.state(w);
    ASSERT_TRUE(model.write(scratch_.path("m.gantry")).isOk());
    ASSERT_EQ(gantry_program_load(scratch_.path("m.gantry").c_str(), &program_), GANTRY_STATUS_OK);
    options_.struct_size = sizeof(options_);
    options_.cache_path = "";
    ASSERT_EQ(gantry_session_create(program_, device_, &options_, &session_), GANTRY_STATUS_OK)
        << gantry_last_error();
    ASSERT_EQ(gantry_session_state(session_, &state_), GANTRY_STATUS_OK);
    gantry_tensor_t zeros = tensor();
    ASSERT_EQ(gantry_state_write(state_, "w", &zeros), GANTRY_STATUS_OK) << gantry_last_error();
  }
  void TearDown() override {
    gantry_state_release(state_);
    gantry_session_release(session_);
    gantry_program_release(program_);
    gantry_device_release(device_);
  }
  gantry_tensor_t tensor() {
    gantry_tensor_t result = {};
    result.rank = 1;
    result.dims[0] = kCount;
    result.data = values_.data();
    result.size_bytes = kBytes;
    return result;
  }
  static gantry_tensor_t inBuffer(gantry_buffer_t *buffer) {
    gantry_tensor_t result = {};
    result.rank = 1;
    result.dims[0] = kCount;
    result.buffer = buffer;
    result.size_bytes = kBytes;
    return result;
  }
  gantry_buffer_t *makeBuffer(const char *name) {
    gantry_buffer_t *buffer = nullptr;
    EXPECT_EQ(gantry_buffer_create_kind(device_, GANTRY_MEMORY_UNIFIED, 1 << 20, name, &buffer),
              GANTRY_STATUS_OK);
    return buffer;
  }
  gantry_run_t *submit(gantry_session_t *session, gantry_buffer_t *x) {
    gantry_tensor_t inputs[2] = {inBuffer(x)}, output = tensor();
    gantry_run_t *run = nullptr;
    EXPECT_EQ(gantry_session_submit(session, inputs, 2, &output, 1, &run), GANTRY_STATUS_OK)
        << gantry_last_error();
    return run;
  }
  static void expectTaken(gantry_status_t status, const std::string &taken) {
    EXPECT_EQ(status, GANTRY_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::string(gantry_last_error()).find(taken), std::string::npos)
        << gantry_last_error();
  }
  /// Calls every function that takes a buffer, or a struct with a buffer.
  void expectEveryUseRefused(gantry_run_t *run, gantry_buffer_t *buffer, const std::string &taken) {
    gantry_tensor_t inputs[2] = {inBuffer(buffer)}, output = tensor();
    expectTaken(gantry_session_run(session_, inputs, 2, &output, 1), "input 0: " + taken);
    gantry_run_t *other = nullptr;
    expectTaken(gantry_session_submit(session_, inputs, 2, &output, 1, &other), taken);
    EXPECT_EQ(other, nullptr);
    inputs[0] = tensor();
    output = inBuffer(buffer);
    expectTaken(gantry_session_run(session_, inputs, 2, &output, 1), "output 0: " + taken);
    expectTaken(gantry_run_donate(run, buffer), taken);
    options_.arena = buffer;
    gantry_session_t *session = nullptr;
    expectTaken(gantry_session_create(program_, device_, &options_, &session), taken);
    options_.arena = nullptr;
    const gantry_tensor_t range = inBuffer(buffer);
    expectTaken(gantry_state_bind(state_, "w", &range), taken);
    clearError();
    EXPECT_EQ(gantry_buffer_data(buffer), nullptr);
    expectTaken(GANTRY_STATUS_INVALID_ARGUMENT, taken);
    clearError();
    EXPECT_EQ(gantry_buffer_size(buffer), 0u);
    expectTaken(GANTRY_STATUS_INVALID_ARGUMENT, taken);
    clearError();
    gantry_buffer_release(buffer); // The call does nothing and reports no error.
    EXPECT_EQ(std::string(gantry_last_error()).find(taken), std::string::npos);
  }
  static void clearError() { EXPECT_NE(gantry_state_save(nullptr, "x"), GANTRY_STATUS_OK); }

  test::ScratchFolder scratch_;
  std::vector<float> values_ = std::vector<float>(kCount, 0);
  gantry_device_t *device_ = nullptr;
  gantry_program_t *program_ = nullptr;
  gantry_session_t *session_ = nullptr;
  gantry_state_t *state_ = nullptr;
  gantry_session_options_t options_ = {};
};

TEST_F(Donation, EveryLaterUseNamesTheBufferAndTheRun) {
  for (int number = 1; number <= 2; ++number) { // The second buffer is donated after its run's end.
    gantry_buffer_t *buffer = makeBuffer("activations");
    gantry_run_t *run = submit(session_, buffer);
    if (number == 2) {
      ASSERT_EQ(gantry_run_wait(run, UINT64_MAX, nullptr), GANTRY_STATUS_OK);
    }
    ASSERT_EQ(gantry_run_donate(run, buffer), GANTRY_STATUS_OK) << gantry_last_error();
    expectEveryUseRefused(run, buffer,
                          "the buffer 'activations' was donated to run " + std::to_string(number) +
                              " of program 'double' (gantry_run_donate) and cannot be used any "
                              "more");
    gantry_run_release(run);
  }
}

TEST_F(Donation, AReleasedBufferIsCalledReleased) {
  gantry_buffer_t *buffer = makeBuffer("x");
  gantry_buffer_release(buffer);
  gantry_tensor_t inputs[2] = {inBuffer(buffer)}, output = tensor();
  expectTaken(gantry_session_run(session_, inputs, 2, &output, 1),
              "input 0: the buffer was already released");
}

TEST_F(Donation, ABufferThatAnotherSessionUsesStaysWithItsOwner) {
  gantry_session_t *other = nullptr;
  options_.state = state_;
  ASSERT_EQ(gantry_session_create(program_, device_, &options_, &other), GANTRY_STATUS_OK)
      << gantry_last_error();
  gantry_buffer_t *buffer = makeBuffer("shared");
  gantry_run_t *first = submit(session_, buffer), *second = submit(other, buffer);
  EXPECT_EQ(gantry_run_donate(first, buffer), GANTRY_STATUS_FAILED_PRECONDITION);
  EXPECT_NE(std::string(gantry_last_error()).find("the buffer 'shared' cannot be donated"),
            std::string::npos)
      << gantry_last_error();
  EXPECT_NE(gantry_buffer_data(buffer), nullptr) << "the caller keeps the buffer";
  EXPECT_EQ(gantry_run_wait(second, UINT64_MAX, nullptr), GANTRY_STATUS_OK);
  EXPECT_EQ(gantry_run_donate(first, buffer), GANTRY_STATUS_OK) << gantry_last_error();
  gantry_run_release(first);
  gantry_run_release(second);
  gantry_session_release(other);
}

TEST_F(Donation, ABufferOfAStateStaysWithItsOwner) {
  gantry_buffer_t *buffer = makeBuffer("weights");
  const gantry_tensor_t range = inBuffer(buffer);
  ASSERT_EQ(gantry_state_bind(state_, "w", &range), GANTRY_STATUS_OK) << gantry_last_error();
  gantry_tensor_t inputs[2] = {tensor()}, output = tensor();
  gantry_run_t *run = nullptr;
  ASSERT_EQ(gantry_session_submit(session_, inputs, 2, &output, 1, &run), GANTRY_STATUS_OK);
  EXPECT_EQ(gantry_run_donate(run, buffer), GANTRY_STATUS_FAILED_PRECONDITION);
  gantry_run_release(run);
  gantry_buffer_release(buffer);
}

TEST_F(Donation, OldDonationsAreRefusedToo) {
  std::vector<gantry_buffer_t *> buffers;
  for (int i = 0; i < 600; ++i) { // The library remembers fewer donations than these.
    buffers.push_back(makeBuffer("many"));
    gantry_run_t *run = submit(session_, buffers.back());
    ASSERT_EQ(gantry_run_donate(run, buffers.back()), GANTRY_STATUS_OK) << gantry_last_error();
    gantry_run_release(run);
  }
  gantry_tensor_t inputs[2] = {inBuffer(buffers.front())}, output = tensor();
  expectTaken(gantry_session_run(session_, inputs, 2, &output, 1), "was already released");
  inputs[0] = inBuffer(buffers.back());
  expectTaken(gantry_session_run(session_, inputs, 2, &output, 1), "donated to run 600");
}

} // namespace

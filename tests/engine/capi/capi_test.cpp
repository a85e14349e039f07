// Tests the documented behaviour of gantry.h through libgantry.so: without validation, with
// validation and with synchronization validation. The validation layer must report nothing.
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gantry/gantry.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

extern "C" const char *gantryVersionSeenFromC(void);

namespace {

namespace test = gantry::test;

struct Mode {
  const char *name;
  const char *validation;
  gantry_binding_t binding;
};

class CApi : public testing::TestWithParam<Mode> {
protected:
  void SetUp() override {
    setenv("GANTRY_VALIDATION", GetParam().validation, 1);
    ASSERT_EQ(gantry_device_create(nullptr, &device_), GANTRY_STATUS_OK) << gantry_last_error();
    test::TestModel model;
    test::buildChain(model, model.symbol("n", 0, 0, 1, 5000), std::vector<float>(5000, 3.0f));
    path_ = scratch_.path("m.gantry");
    ASSERT_TRUE(model.write(path_).isOk());
    ASSERT_EQ(gantry_program_load(path_.c_str(), &program_), GANTRY_STATUS_OK)
        << gantry_last_error();
    options_.struct_size = sizeof(options_);
    options_.binding = GetParam().binding;
    options_.cache_path = "";
  }
  void TearDown() override {
    if (device_) {
      EXPECT_EQ(gantry_device_validation_messages(device_), 0u);
    }
    gantry_session_release(session_);
    gantry_program_release(program_);
    gantry_device_release(device_);
  }
  void open() {
    ASSERT_EQ(gantry_session_create(program_, device_, &options_, &session_), GANTRY_STATUS_OK)
        << gantry_last_error();
  }
  static gantry_tensor_t tensor(std::vector<float> &values) {
    gantry_tensor_t t = {};
    t.rank = 1;
    t.dims[0] = static_cast<int64_t>(values.size());
    t.data = values.data();
    t.size_bytes = 4 * values.size();
    return t;
  }
  static void expectChain(const std::vector<float> &in, const std::vector<float> &out) {
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], test::chainResult(in[i], 3)) << i;
  }

  test::ScratchFolder scratch_;
  std::string path_;
  gantry_device_t *device_ = nullptr;
  gantry_program_t *program_ = nullptr;
  gantry_session_t *session_ = nullptr;
  gantry_session_options_t options_ = {};
};

TEST_P(CApi, DescribesMemoryHeaps) {
  const uint32_t count = gantry_device_memory_heap_count(device_);
  ASSERT_GT(count, 0u);
  uint32_t first = 0;
  gantry_memory_heap_t heap = {};
  for (uint32_t i = 0; i < count; ++i) {
    heap.struct_size = sizeof(heap);
    ASSERT_EQ(gantry_device_memory_heap(device_, i, &heap), GANTRY_STATUS_OK)
        << gantry_last_error();
    EXPECT_EQ(heap.struct_size, sizeof(heap));
    EXPECT_GT(heap.size_bytes, 0u);
    EXPECT_GT(heap.budget_bytes, 0u);
    EXPECT_LE(heap.budget_bytes, heap.size_bytes);
    EXPECT_EQ(heap.first_kinds & heap.other_kinds, 0u);
    EXPECT_EQ(first & heap.first_kinds, 0u) << "two heaps are the first choice of one memory kind";
    first |= heap.first_kinds;
  }
  EXPECT_EQ(first, (1u << GANTRY_MEMORY_KIND_COUNT) - 1) << "a memory kind has no heap";
  EXPECT_EQ(gantry_device_memory_heap(device_, count, &heap), GANTRY_STATUS_NOT_FOUND);
  EXPECT_NE(strstr(gantry_last_error(), "memory heap"), nullptr);
  EXPECT_EQ(gantry_device_memory_heap(device_, 0, nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
  heap.struct_size = 0;
  EXPECT_EQ(gantry_device_memory_heap(device_, 0, &heap), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(strstr(gantry_last_error(), "struct_size is 0"), nullptr);
  struct {
    gantry_memory_heap_t known;
    uint64_t later[2];
  } longer = {};
  longer.known.struct_size = sizeof(longer);
  longer.later[1] = 7;
  EXPECT_EQ(gantry_device_memory_heap(device_, 0, &longer.known), GANTRY_STATUS_OK);
  EXPECT_EQ(longer.later[1], 0u) << "fields that this version does not know become zero";
  EXPECT_STREQ(gantry_memory_kind_name(GANTRY_MEMORY_READBACK), "readback");
  EXPECT_STREQ(gantry_memory_kind_name(static_cast<gantry_memory_kind_t>(99)), "unknown");
}

TEST_P(CApi, CountsTheMemoryOfBuffers) {
  gantry_memory_heap_t heap = {};
  auto used = [&] {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gantry_device_memory_heap_count(device_); ++i) {
      heap.struct_size = sizeof(heap);
      EXPECT_EQ(gantry_device_memory_heap(device_, i, &heap), GANTRY_STATUS_OK);
      sum += heap.used_bytes;
    }
    return sum;
  };
  const uint64_t before = used();
  gantry_buffer_t *buffer = nullptr;
  ASSERT_EQ(gantry_buffer_create(device_, 8 << 20, &buffer), GANTRY_STATUS_OK);
  EXPECT_GE(used(), before + (8 << 20));
  gantry_buffer_release(buffer);
  EXPECT_GE(gantry_device_trim(device_, 0), uint64_t{8} << 20)
      << "the heap keeps the released memory until gantry_device_trim()";
  EXPECT_LE(used(), before);
}

TEST_P(CApi, CountsMemoryPerKindAndName) {
  gantry_memory_statistics_t before = {}, now = {};
  before.struct_size = now.struct_size = sizeof(now);
  ASSERT_EQ(gantry_device_memory_statistics(device_, GANTRY_MEMORY_READBACK, &before),
            GANTRY_STATUS_OK);
  gantry_buffer_t *buffer = nullptr;
  ASSERT_EQ(
      gantry_buffer_create_kind(device_, GANTRY_MEMORY_READBACK, 1000, "frame results", &buffer),
      GANTRY_STATUS_OK);
  EXPECT_NE(gantry_buffer_data(buffer), nullptr);
  EXPECT_EQ(gantry_buffer_size(buffer), 1000u);
  ASSERT_EQ(gantry_device_memory_statistics(device_, GANTRY_MEMORY_READBACK, &now),
            GANTRY_STATUS_OK);
  EXPECT_EQ(now.live_bytes, before.live_bytes + 1000);
  EXPECT_EQ(now.live_buffers, before.live_buffers + 1);
  EXPECT_GE(now.reserved_bytes, now.live_bytes);
  std::string report(gantry_device_memory_report(device_, nullptr, 0) + 1, '\0');
  gantry_device_memory_report(device_, report.data(), report.size());
  EXPECT_NE(report.find("frame results"), std::string::npos) << report;
  gantry_buffer_release(buffer);
  now.struct_size = 3;
  EXPECT_EQ(gantry_device_memory_statistics(device_, GANTRY_MEMORY_READBACK, &now),
            GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_buffer_create_kind(device_, static_cast<gantry_memory_kind_t>(9), 16, nullptr,
                                      &buffer),
            GANTRY_STATUS_INVALID_ARGUMENT);
}

TEST_P(CApi, KeepsTheMemoryLimit) {
  for (uint32_t i = 0; i < gantry_device_memory_heap_count(device_); ++i)
    ASSERT_EQ(gantry_device_set_memory_limit(device_, i, 4 << 20), GANTRY_STATUS_OK);
  gantry_buffer_t *buffer = nullptr;
  EXPECT_EQ(gantry_buffer_create(device_, 64 << 20, &buffer), GANTRY_STATUS_OUT_OF_MEMORY);
  EXPECT_NE(std::string(gantry_last_error()).find("over the budget"), std::string::npos)
      << gantry_last_error();
  for (uint32_t i = 0; i < gantry_device_memory_heap_count(device_); ++i)
    ASSERT_EQ(gantry_device_set_memory_limit(device_, i, UINT64_MAX), GANTRY_STATUS_OK);
  ASSERT_EQ(gantry_buffer_create(device_, 64 << 20, &buffer), GANTRY_STATUS_OK);
  gantry_buffer_release(buffer);
  EXPECT_EQ(gantry_device_set_memory_limit(device_, 99, 1), GANTRY_STATUS_NOT_FOUND);
}

INSTANTIATE_TEST_SUITE_P(All, CApi,
                         testing::Values(Mode{"plain", "0", GANTRY_BINDING_AUTO},
                                         Mode{"texel", "sync", GANTRY_BINDING_TEXEL},
                                         Mode{"validated", "1", GANTRY_BINDING_ADDRESS},
                                         Mode{"synchronization", "sync",
                                              GANTRY_BINDING_STORAGE_BUFFER}),
                         [](const auto &info) { return info.param.name; });

TEST_P(CApi, TwoSessionsShareTheCallersArena) {
  const int64_t n = 1000;
  uint64_t bytes = 0;
  EXPECT_EQ(gantry_program_arena_bytes(program_, nullptr, 0, &bytes),
            GANTRY_STATUS_INVALID_ARGUMENT);
  ASSERT_EQ(gantry_program_arena_bytes(program_, &n, 1, &bytes), GANTRY_STATUS_OK);
  ASSERT_GT(bytes, 0u);
  gantry_buffer_t *arena = nullptr;
  ASSERT_EQ(gantry_buffer_create_kind(device_, GANTRY_MEMORY_DEVICE, bytes, "shared arena", &arena),
            GANTRY_STATUS_OK);
  options_.arena = arena;
  open();
  gantry_session_t *other = nullptr;
  ASSERT_EQ(gantry_session_create(program_, device_, &options_, &other), GANTRY_STATUS_OK);
  for (int i = 0; i < 4; ++i) {
    std::vector<float> in(n, static_cast<float>(i)), out(n), otherOut(n);
    gantry_tensor_t input = tensor(in), output = tensor(out), second = tensor(otherOut);
    gantry_run_t *run = nullptr, *otherRun = nullptr;
    ASSERT_EQ(gantry_session_submit(session_, &input, 1, &output, 1, &run), GANTRY_STATUS_OK)
        << gantry_last_error();
    ASSERT_EQ(gantry_session_submit(other, &input, 1, &second, 1, &otherRun), GANTRY_STATUS_OK);
    ASSERT_EQ(gantry_run_wait(run, UINT64_MAX, nullptr), GANTRY_STATUS_OK);
    ASSERT_EQ(gantry_run_wait(otherRun, UINT64_MAX, nullptr), GANTRY_STATUS_OK);
    gantry_run_release(run);
    gantry_run_release(otherRun);
    expectChain(in, out);
    expectChain(in, otherOut);
  }
  std::vector<float> in(3 * n), out(3 * n);
  gantry_tensor_t input = tensor(in), output = tensor(out);
  EXPECT_EQ(gantry_session_run(other, &input, 1, &output, 1), GANTRY_STATUS_OUT_OF_MEMORY);
  EXPECT_NE(std::string(gantry_last_error()).find("the plan needs"), std::string::npos);
  gantry_session_release(other);
  gantry_buffer_release(arena); // The session keeps it alive.
}

TEST_P(CApi, ARunTakesADonatedInput) {
  open();
  constexpr uint32_t kCount = 100;
  gantry_buffer_t *buffer = nullptr, *other = nullptr;
  ASSERT_EQ(gantry_buffer_create(device_, 4 * kCount, &buffer), GANTRY_STATUS_OK);
  ASSERT_EQ(gantry_buffer_create(device_, 4 * kCount, &other), GANTRY_STATUS_OK);
  const std::vector<float> in(kCount, 3.0f);
  std::memcpy(gantry_buffer_data(buffer), in.data(), 4 * kCount);
  std::vector<float> out(kCount);
  gantry_tensor_t input = {}, output = tensor(out);
  input.rank = 1;
  input.dims[0] = kCount;
  input.buffer = buffer;
  input.size_bytes = 4 * kCount;
  gantry_run_t *run = nullptr;
  ASSERT_EQ(gantry_session_submit(session_, &input, 1, &output, 1, &run), GANTRY_STATUS_OK)
      << gantry_last_error();
  EXPECT_EQ(gantry_run_donate(run, nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_run_donate(run, other), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gantry_last_error()).find("no input in this buffer"), std::string::npos);
  EXPECT_EQ(gantry_run_donate(run, buffer), GANTRY_STATUS_OK) << gantry_last_error();
  EXPECT_EQ(gantry_run_wait(run, UINT64_MAX, nullptr), GANTRY_STATUS_OK);
  gantry_run_release(run);
  gantry_buffer_release(other); // The caller still owns `other`, because its donation failed.
  expectChain(in, out);
}

TEST_P(CApi, RunsAtSeveralSizes) {
  open();
  for (size_t n : {1u, 100u, 5000u, 100u}) {
    std::vector<float> in(n, 2.0f), out(n);
    gantry_tensor_t input = tensor(in), shape = {}, output = {};
    ASSERT_EQ(gantry_session_output_shapes(session_, &input, 1, &shape, 1), GANTRY_STATUS_OK);
    EXPECT_EQ(shape.type, GANTRY_TYPE_F32);
    EXPECT_EQ(shape.rank, 1u);
    EXPECT_EQ(shape.dims[0], static_cast<int64_t>(n));
    EXPECT_EQ(shape.size_bytes, 4 * n);
    output.data = out.data();
    output.size_bytes = 4 * n + 100; // The capacity exceeds the size.
    ASSERT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_OK)
        << gantry_last_error();
    EXPECT_EQ(output.size_bytes, 4 * n);
    EXPECT_EQ(output.dims[0], static_cast<int64_t>(n));
    expectChain(in, out);
  }
  gantry_statistics_t statistics;
  gantry_session_statistics(session_, &statistics);
  EXPECT_EQ(statistics.runs, 4u);
  EXPECT_EQ(statistics.plans, 3u);
  EXPECT_EQ(statistics.constant_bytes, 20000u);
  EXPECT_GE(statistics.reserved_bytes, statistics.constant_bytes + statistics.arena_bytes);
}

TEST_P(CApi, AsynchronousRunsAndReleaseInAnyOrder) {
  open();
  std::vector<float> in(1000, 5.0f), out(1000), second(1000);
  gantry_tensor_t input = tensor(in), output = tensor(out), output2 = tensor(second);
  gantry_run_t *run = nullptr, *run2 = nullptr;
  ASSERT_EQ(gantry_session_submit(session_, &input, 1, &output, 1, &run), GANTRY_STATUS_OK);
  const std::vector<float> original = in;
  std::fill(in.begin(), in.end(), -1.0f); // Host memory was copied at submission.
  ASSERT_EQ(gantry_session_submit(session_, &input, 1, &output2, 1, &run2), GANTRY_STATUS_OK);
  gantry_session_release(session_);
  session_ = nullptr;
  gantry_program_release(program_);
  program_ = nullptr;
  int32_t done = 0;
  ASSERT_EQ(gantry_run_wait(run, UINT64_MAX, &done), GANTRY_STATUS_OK) << gantry_last_error();
  EXPECT_EQ(done, 1);
  expectChain(original, out);
  gantry_run_release(run2); // Waits for the run.
  expectChain(in, second);
  gantry_run_release(run);
}

TEST_P(CApi, RefusesAnOutputOfAnotherType) {
  open();
  std::vector<float> in(1000, 5.0f), out(1000, -1.0f);
  gantry_tensor_t input = tensor(in), output = tensor(out);
  output.type = GANTRY_TYPE_I32;
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  const std::string message = gantry_last_error();
  EXPECT_NE(message.find("has the element type f32, but the tensor's type is i32"),
            std::string::npos)
      << message;
  EXPECT_EQ(out[0], -1.0f) << "nothing was written";
  gantry_run_t *run = nullptr;
  output.type = static_cast<gantry_type_t>(99);
  EXPECT_EQ(gantry_session_submit(session_, &input, 1, &output, 1, &run),
            GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gantry_last_error()).find("99"), std::string::npos);
  output.type = GANTRY_TYPE_F32;
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_OK);
}

TEST_P(CApi, TheNinthRunWaitsForTheOldest) {
  open();
  std::vector<float> in(1000, 5.0f);
  std::vector<std::vector<float>> outs(GANTRY_MAX_RUNS_IN_FLIGHT + 1, std::vector<float>(1000));
  std::vector<gantry_run_t *> runs;
  gantry_tensor_t input = tensor(in);
  for (std::vector<float> &out : outs) {
    gantry_tensor_t output = tensor(out);
    gantry_run_t *run = nullptr;
    ASSERT_EQ(gantry_session_submit(session_, &input, 1, &output, 1, &run), GANTRY_STATUS_OK);
    runs.push_back(run);
  }
  // The ninth call returned, so the oldest run has ended and its wait does not block.
  int32_t done = 0;
  ASSERT_EQ(gantry_run_wait(runs[0], 0, &done), GANTRY_STATUS_OK);
  EXPECT_EQ(done, 1);
  expectChain(in, outs[0]);
  for (gantry_run_t *run : runs)
    gantry_run_release(run);
}

TEST_P(CApi, PollingWithAShortTimeoutSeesTheEndOfTheRun) {
  open();
  std::vector<float> in(1000, 5.0f), out(1000);
  gantry_tensor_t input = tensor(in), output = tensor(out);
  gantry_run_t *run = nullptr;
  ASSERT_EQ(gantry_session_submit(session_, &input, 1, &output, 1, &run), GANTRY_STATUS_OK);
  int32_t done = 0;
  while (!done) {
    ASSERT_EQ(gantry_run_wait(run, 1000, &done), GANTRY_STATUS_OK);
    std::this_thread::yield();
  }
  expectChain(in, out);
  gantry_run_release(run);
}

TEST_P(CApi, BuffersAreBoundWithoutACopy) {
  open();
  gantry_buffer_t *a = nullptr, *b = nullptr;
  ASSERT_EQ(gantry_buffer_create(device_, 4000, &a), GANTRY_STATUS_OK);
  ASSERT_EQ(gantry_buffer_create(device_, 4001, &b), GANTRY_STATUS_OK);
  EXPECT_EQ(gantry_buffer_size(b), 4001u);
  std::vector<float> in(1000, 1.5f), out(1000);
  std::memcpy(gantry_buffer_data(a), in.data(), 4000);
  gantry_tensor_t input = tensor(in), output = {};
  input.data = nullptr;
  input.buffer = a;
  output.buffer = b;
  output.size_bytes = 4000;
  ASSERT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_OK)
      << gantry_last_error();
  std::memcpy(out.data(), gantry_buffer_data(b), 4000);
  expectChain(in, out);
  gantry_statistics_t statistics;
  gantry_session_statistics(session_, &statistics);
  EXPECT_EQ(statistics.io_bytes, 0u) << "nothing was staged";

  output.offset = 8;
  output.size_bytes = 4000;
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(gantry_last_error(), "output 0: 4000 bytes from offset 8 on are not inside its "
                                    "buffer of 4001 bytes");
  gantry_device_t *other = nullptr;
  ASSERT_EQ(gantry_device_create("0", &other), GANTRY_STATUS_OK);
  gantry_buffer_t *foreign = nullptr;
  ASSERT_EQ(gantry_buffer_create(other, 4000, &foreign), GANTRY_STATUS_OK);
  output.offset = 0;
  output.buffer = foreign;
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(gantry_last_error(), "output 0: its buffer belongs to another device");
  gantry_device_release(other);
  gantry_buffer_release(foreign);
  gantry_buffer_release(a);
  gantry_buffer_release(b);
}

TEST_P(CApi, DescribesDispatchesWithTheMemoryCheckOn) {
  options_.timestamps = 1;
  options_.check_memory = 1;
  open();
  std::vector<float> in(500, 1.0f), out(500);
  gantry_tensor_t input = tensor(in), output = tensor(out);
  ASSERT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_OK)
      << gantry_last_error();
  expectChain(in, out);
  gantry_dispatch_info_t info;
  ASSERT_EQ(gantry_session_dispatch(session_, 1, &info), GANTRY_STATUS_OK);
  EXPECT_STREQ(info.name, "Add_1");
  EXPECT_EQ(info.bytes, 6000u);
  EXPECT_EQ(info.workgroups[0], 8u);
  if (GetParam().binding != GANTRY_BINDING_AUTO) {
    EXPECT_EQ(info.binding, GetParam().binding);
  }
  EXPECT_EQ(gantry_session_dispatch(session_, 5, &info), GANTRY_STATUS_NOT_FOUND);
}

// The environment variable GANTRY_BINDING applies if the caller passes GANTRY_BINDING_AUTO.
TEST_P(CApi, TheEnvironmentChoosesTheAutomaticBinding) {
  options_.timestamps = 1;
  for (const auto &[name, binding] : {std::pair{"storage-buffer", GANTRY_BINDING_STORAGE_BUFFER},
                                      std::pair{"texel", GANTRY_BINDING_TEXEL}}) {
    setenv("GANTRY_BINDING", name, 1);
    gantry_session_t *session = nullptr;
    const gantry_status_t opened = gantry_session_create(program_, device_, &options_, &session);
    unsetenv("GANTRY_BINDING");
    ASSERT_EQ(opened, GANTRY_STATUS_OK) << gantry_last_error();
    std::vector<float> in(64, 1.0f), out(64);
    gantry_tensor_t input = tensor(in), output = tensor(out);
    ASSERT_EQ(gantry_session_run(session, &input, 1, &output, 1), GANTRY_STATUS_OK)
        << gantry_last_error();
    gantry_dispatch_info_t info;
    ASSERT_EQ(gantry_session_dispatch(session, 0, &info), GANTRY_STATUS_OK) << gantry_last_error();
    EXPECT_EQ(info.binding, options_.binding == GANTRY_BINDING_AUTO ? binding : options_.binding);
    gantry_session_release(session);
  }
  setenv("GANTRY_BINDING", "pointers", 1);
  gantry_session_t *session = nullptr;
  EXPECT_EQ(gantry_session_create(program_, device_, nullptr, &session),
            GANTRY_STATUS_INVALID_ARGUMENT);
  unsetenv("GANTRY_BINDING");
  EXPECT_STREQ(gantry_last_error(),
               "GANTRY_BINDING: no binding is named \"pointers\"; the names are: auto, "
               "storage-buffer, address, texel");
}

TEST_P(CApi, SessionsOfOneDeviceRunInThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      gantry_session_t *session = nullptr;
      ASSERT_EQ(gantry_session_create(program_, device_, &options_, &session), GANTRY_STATUS_OK)
          << gantry_last_error();
      for (int run = 0; run < 10; ++run) {
        std::vector<float> in(static_cast<size_t>(64 * (t + 1) + run), static_cast<float>(t));
        std::vector<float> out(in.size());
        gantry_tensor_t input = tensor(in), output = tensor(out);
        ASSERT_EQ(gantry_session_run(session, &input, 1, &output, 1), GANTRY_STATUS_OK);
        expectChain(in, out);
      }
      gantry_session_release(session);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(CApi, RefusesInvalidArguments) {
  open();
  std::vector<float> in(6000), out(6000);
  gantry_tensor_t input = tensor(in), output = tensor(out);
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(gantry_last_error(),
               "dimension 0 (n) of input 'in' is 6000; it may be at most 5000");
  input.dims[0] = 100;
  input.type = GANTRY_TYPE_I64;
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(gantry_last_error(), "input 'in' must be f32 [n], not i64 [100]");
  input.type = static_cast<gantry_type_t>(77);
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  input.type = GANTRY_TYPE_F32;
  input.rank = 9;
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  input.rank = 1;
  EXPECT_EQ(gantry_session_run(session_, &input, 2, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT)
      << "the count is checked before the second tensor is read";
  EXPECT_EQ(gantry_session_run(session_, nullptr, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_session_run(nullptr, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  output.size_bytes = 399;
  EXPECT_EQ(gantry_session_run(session_, &input, 1, &output, 1), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(gantry_last_error(), "output 'out': 399 bytes given, f32 [100] needs 400");

  gantry_session_t *untouched = session_;
  gantry_session_options_t wrong = options_;
  wrong.struct_size = 3;
  EXPECT_EQ(gantry_session_create(program_, device_, &wrong, &untouched),
            GANTRY_STATUS_INVALID_ARGUMENT);
  wrong = options_;
  wrong.binding = static_cast<gantry_binding_t>(9);
  EXPECT_EQ(gantry_session_create(program_, device_, &wrong, &untouched),
            GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_session_create(nullptr, device_, &options_, &untouched),
            GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(untouched, session_) << "out-parameters are left untouched";

  gantry_buffer_t *buffer = nullptr;
  EXPECT_EQ(gantry_buffer_create(device_, 0, &buffer), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_buffer_create(device_, UINT64_MAX, &buffer), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_buffer_create(device_, uint64_t{1} << 60, &buffer), GANTRY_STATUS_OUT_OF_MEMORY);
}

TEST(CApiBasics, NamesTypesAndVersion) {
  EXPECT_STREQ(gantry_version(), gantryVersionSeenFromC());
  EXPECT_STREQ(gantry_status_name(GANTRY_STATUS_DEVICE_LOST), "device lost");
  EXPECT_NE(gantry_status_name(static_cast<gantry_status_t>(99)), nullptr);
  EXPECT_STREQ(gantry_type_name(GANTRY_TYPE_BF16), "bf16");
  EXPECT_EQ(gantry_type_size(GANTRY_TYPE_F64), 8u);
  EXPECT_EQ(gantry_type_size(static_cast<gantry_type_t>(99)), 0u);
  EXPECT_NE(gantry_type_name(static_cast<gantry_type_t>(99)), nullptr);
  gantry_device_release(nullptr);
  gantry_buffer_release(nullptr);
  gantry_program_release(nullptr);
  gantry_session_release(nullptr);
  gantry_run_release(nullptr);
  gantry_free(nullptr);
}

TEST(CApiBasics, LastErrorIsPerThread) {
  gantry_program_t *program = nullptr;
  EXPECT_EQ(gantry_program_load("/no/such/file", &program), GANTRY_STATUS_NOT_FOUND);
  const std::string here = gantry_last_error();
  EXPECT_NE(here.find("/no/such/file"), std::string::npos);
  std::thread([] { EXPECT_STREQ(gantry_last_error(), ""); }).join();
  EXPECT_EQ(gantry_last_error(), here);
}

TEST(CApiBasics, ListsDevices) {
  size_t count = 0;
  ASSERT_EQ(gantry_devices(nullptr, &count), GANTRY_STATUS_OK) << gantry_last_error();
  ASSERT_GT(count, 0u);
  std::vector<gantry_device_info_t> infos(count);
  ASSERT_EQ(gantry_devices(infos.data(), &count), GANTRY_STATUS_OK);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(infos[i].index, i);
    EXPECT_GT(infos[i].max_push_constant_bytes, 0u);
    EXPECT_STREQ(infos[i].backend, "vulkan");
  }
  EXPECT_EQ(gantry_devices(nullptr, nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
}

TEST(CApiBasics, RefusesDamagedArtifactsAndDescribesAValidOne) {
  test::ScratchFolder scratch;
  test::TestModel model;
  test::buildChain(model, model.number(100), std::vector<float>(100));
  const std::string path = scratch.path("m.gantry");
  ASSERT_TRUE(model.write(path).isOk());
  std::vector<uint8_t> bytes = test::readBytes(path);
  gantry_program_t *program = nullptr;
  std::vector<uint8_t> damaged = bytes;
  damaged[4200] ^= 1;
  EXPECT_EQ(gantry_program_load_memory(damaged.data(), damaged.size(), &program),
            GANTRY_STATUS_DATA_LOSS);
  damaged.assign(100, 7);
  EXPECT_EQ(gantry_program_load_memory(damaged.data(), damaged.size(), &program),
            GANTRY_STATUS_DATA_LOSS);
  EXPECT_EQ(gantry_program_load_memory(bytes.data(), bytes.size() / 2, &program),
            GANTRY_STATUS_DATA_LOSS);
  EXPECT_EQ(program, nullptr);
  ASSERT_EQ(gantry_program_load_memory(bytes.data(), bytes.size(), &program), GANTRY_STATUS_OK);
  gantry_port_info_t port;
  EXPECT_EQ(gantry_program_input(program, 1, &port), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_program_input(program, 0, nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gantry_last_error()).find("gantry_program_input"), std::string::npos);
  EXPECT_EQ(gantry_program_output(program, 0, nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gantry_last_error()).find("gantry_program_output"), std::string::npos);
  ASSERT_EQ(gantry_program_output(program, 0, &port), GANTRY_STATUS_OK);
  EXPECT_EQ(port.dims[0], 100);
  EXPECT_EQ(port.dim_names[0], nullptr);
  char *json = nullptr;
  ASSERT_EQ(gantry_program_describe(program, nullptr, 0, &json), GANTRY_STATUS_OK);
  EXPECT_NE(std::strstr(json, "\"lower_bound_bytes\""), nullptr);
  gantry_free(json);
  gantry_program_release(program);
}

} // namespace

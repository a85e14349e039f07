// Tests sessions on the first usable device: bindings, cached plans and recordings (recorded
// command lists), buffers, shapes, errors and statistics.
#include "tests/engine/program/session_fixture.h"

#include <cstring>

namespace gantry::program {
namespace {

using artifact::ElementType;
using test::TestKernel;
using test::TestModel;

struct SessionMode {
  const char *name;
  BindingChoice binding;
  bool timestamps;
  bool checkMemory;
  bool staged;
};

class SessionModes : public SessionFixture, public testing::WithParamInterface<SessionMode> {
protected:
  void SetUp() override {
    SessionFixture::SetUp();
    options_.binding = GetParam().binding;
    options_.timestamps = GetParam().timestamps;
    options_.checkMemory = GetParam().checkMemory;
    options_.hooks.stageInputsAndOutputs = GetParam().staged;
  }
};

INSTANTIATE_TEST_SUITE_P(
    All, SessionModes,
    testing::Values(SessionMode{"storage", BindingChoice::kStorageBuffer, false, false, false},
                    SessionMode{"address", BindingChoice::kAddress, false, false, false},
                    SessionMode{"storageStaged", BindingChoice::kStorageBuffer, false, false, true},
                    SessionMode{"addressStaged", BindingChoice::kAddress, true, false, true},
                    SessionMode{"storageChecked", BindingChoice::kStorageBuffer, true, true, false},
                    SessionMode{"addressChecked", BindingChoice::kAddress, false, true, true},
                    SessionMode{"texel", BindingChoice::kTexel, false, false, false},
                    SessionMode{"texelStaged", BindingChoice::kTexel, true, false, true},
                    SessionMode{"texelChecked", BindingChoice::kTexel, false, true, false},
                    SessionMode{"timestamps", BindingChoice::kAuto, true, false, false}),
    [](const auto &info) { return info.param.name; });

TEST_P(SessionModes, AStaticChainIsRecordedOnceAndRunsRepeatedly) {
  openChain(false, 1000);
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(runChain(1000, static_cast<float>(i)).isOk());
  const Statistics s = session_->statistics();
  EXPECT_EQ(s.runs, 4u);
  EXPECT_EQ(s.plans, 1u);
  EXPECT_EQ(s.recordings, 1u) << "all runs use one recording";
  EXPECT_EQ(s.pipelines, 2u);
  EXPECT_EQ(s.constantBytes, 40000u);
  EXPECT_GT(s.loadNs, 0u);
  EXPECT_GT(s.lastRunNs, 0u);
  EXPECT_EQ(s.lastRunGpuNs > 0, GetParam().timestamps);
}

TEST_P(SessionModes, DynamicChainAtManySizes) {
  openChain(true);
  const int64_t sizes[] = {1, 63, 64, 65, 1000, 7, 9999, 1000, 1};
  for (int64_t n : sizes) {
    const Status status = runChain(n);
    ASSERT_TRUE(status.isOk()) << n << ": " << status.message();
  }
  EXPECT_EQ(session_->statistics().plans, 7u) << "the sizes 1000 and 1 occur twice";
}

TEST_P(SessionModes, PartsOfAConcatenationAreWrittenInPlace) {
  test::TestModel model;
  const uint32_t n = model.symbol("n", 0, 0), m = model.symbol("m", 1, 0);
  const uint32_t a = model.input("a", artifact::ElementType::f32, {n});
  const uint32_t b = model.input("b", artifact::ElementType::f32, {m});
  const uint32_t first = model.apply(test::TestKernel::kTwice, {a}, "Twice_0");
  const uint32_t second = model.apply(test::TestKernel::kAdd, {b, b}, "Add_1");
  const uint32_t joined = model.join({first, second}, "joined");
  const uint32_t third = model.apply(test::TestKernel::kAdd, {second, b}, "Add_2");
  model.output("out", model.apply(test::TestKernel::kTwice, {joined}, "Twice_3"));
  model.output("part", model.apply(test::TestKernel::kTwice, {third}, "Twice_4"));
  open(model);
  for (const auto &[rows, columns] : {std::pair<int64_t, int64_t>{64, 100}, {256, 64}}) {
    std::vector<float> in = ramp(rows, 1), other = ramp(columns, 30);
    std::vector<float> out(in.size() + other.size(), -1), part(other.size(), -1);
    const TensorArgument inputs[] = {tensor(in), tensor(other)};
    const TensorArgument outputs[] = {tensor(out), tensor(part)};
    std::vector<OutputShape> shapes;
    auto run = session_->submit(inputs, outputs, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    ASSERT_TRUE((*run)->wait(UINT64_MAX).isOk());
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], 4 * in[i]) << i;
    for (size_t i = 0; i < other.size(); ++i) {
      ASSERT_EQ(out[in.size() + i], 4 * other[i]) << i;
      ASSERT_EQ(part[i], 6 * other[i]) << i;
    }
  }
}

TEST_P(SessionModes, SeveralRunsInFlight) {
  openChain(true);
  std::vector<std::vector<float>> ins, outs;
  for (int i = 0; i < 20; ++i) {
    ins.push_back(ramp(100 + 50 * (i % 3), static_cast<float>(i)));
    outs.emplace_back(ins.back().size(), -1.0f);
  }
  std::vector<std::shared_ptr<program::Run>> runs;
  for (int i = 0; i < 20; ++i) {
    const TensorArgument inputs[] = {tensor(ins[i])}, outputs[] = {tensor(outs[i])};
    std::vector<OutputShape> shapes;
    auto run = session_->submit(inputs, outputs, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    runs.push_back(run.take());
  }
  for (int i = 19; i >= 0; --i) { // In reverse order of submission.
    ASSERT_TRUE(runs[i]->wait(UINT64_MAX).take());
    expectChain(ins[i], outs[i]);
    ASSERT_TRUE(runs[i]->wait(0).take()) << "the second wait";
  }
  EXPECT_EQ(session_->statistics().runs, 20u);
}

TEST_P(SessionModes, BuffersAtAnyOffset) {
  openChain(false, 100);
  const Storage buffer = makeBuffer(4096);
  for (auto [inAt, outAt] : {std::pair{0, 1024}, std::pair{4, 2000}, std::pair{512, 4092 - 400}}) {
    const std::vector<float> in = ramp(100, static_cast<float>(inAt));
    std::memset(buffer.mapped(), 0x55, 4096);
    std::memcpy(buffer.mapped() + inAt, in.data(), 400);
    TensorArgument input, output;
    input.shape.dims = {100};
    input.buffer = output.buffer = buffer;
    input.offset = static_cast<uint64_t>(inAt);
    output.offset = static_cast<uint64_t>(outAt);
    input.sizeBytes = output.sizeBytes = 400;
    std::vector<OutputShape> shapes;
    auto run = session_->submit({&input, 1}, {&output, 1}, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    ASSERT_TRUE((*run)->wait(UINT64_MAX).take());
    std::vector<float> out(100);
    std::memcpy(out.data(), buffer.mapped() + outAt, 400);
    expectChain(in, out);
    EXPECT_EQ(buffer.mapped()[outAt + 400], 0x55) << "the run changed the byte behind the output";
    EXPECT_EQ(buffer.mapped()[outAt - 1], 0x55)
        << "the run changed the byte in front of the output";
  }
}

TEST_P(SessionModes, OddByteCountsCopiesAndSharedOutputs) {
  TestModel model;
  const uint32_t x = model.input("x", ElementType::u8, {model.number(67)});
  const uint32_t a = model.apply(TestKernel::kInvert, {x}, "Invert_0");
  const uint32_t b = model.copy(a, "copy");
  const uint32_t c = model.apply(TestKernel::kInvert, {b}, "Invert_1");
  const uint32_t d = model.apply(TestKernel::kInvert, {c}, "Invert_2");
  model.output("c", c);
  model.output("d", d);
  model.output("again", c);
  open(model);
  std::vector<uint8_t> in(67), c1(67), d1(67), c2(67);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint8_t>(3 * i);
  auto argument = [](std::vector<uint8_t> &bytes) {
    TensorArgument t;
    t.shape = {ElementType::u8, {67}};
    t.data = bytes.data();
    t.sizeBytes = bytes.size();
    return t;
  };
  const TensorArgument inputs[] = {argument(in)};
  const TensorArgument outputs[] = {argument(c1), argument(d1), argument(c2)};
  std::vector<OutputShape> shapes;
  auto run = session_->submit(inputs, outputs, shapes);
  ASSERT_TRUE(run.isOk()) << run.status().message();
  auto done = (*run)->wait(UINT64_MAX);
  ASSERT_TRUE(done.isOk()) << done.status().message();
  EXPECT_EQ(c1, in);
  EXPECT_EQ(c2, in);
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(d1[i], 255 - in[i]);
}

TEST_P(SessionModes, FillsAndEmptyTensors) {
  TestModel model;
  const uint32_t n = model.symbol("n", 0, 0, 0);
  const uint32_t x = model.input("x", ElementType::f32, {n});
  const uint32_t t = model.apply(TestKernel::kTwice, {x}, "Twice_0");
  model.output("y", model.apply(TestKernel::kAdd, {t, model.fill("three", 500, 3)}, "Add_1"));
  open(model);
  for (int64_t count : {500, 0, 3}) {
    std::vector<float> in = ramp(count, 1), out(in.size(), -1);
    const TensorArgument inputs[] = {tensor(in)}, outputs[] = {tensor(out)};
    std::vector<OutputShape> shapes;
    auto run = session_->submit(inputs, outputs, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    auto done = (*run)->wait(UINT64_MAX);
    ASSERT_TRUE(done.isOk()) << done.status().message();
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], 2 * in[i] + 3) << i;
  }
}

class SessionTest : public SessionFixture {
protected:
  /// Submits a run of the static chain with 100 elements. Returns the error message if the session
  /// refuses the run. Otherwise waits for the run and returns "".
  std::string refusal(const TensorArgument &input, const TensorArgument &output) {
    std::vector<OutputShape> shapes;
    auto run = session_->submit({&input, 1}, {&output, 1}, shapes);
    if (run.isOk()) {
      (void)(*run)->wait(UINT64_MAX).isOk();
      return "";
    }
    EXPECT_EQ(run.status().code(), StatusCode::kInvalidArgument);
    return run.status().message();
  }
};

TEST_F(SessionTest, RefusesInvalidArguments) {
  openChain(false, 100);
  std::vector<float> in(100), out(100);
  const TensorArgument good = tensor(in), goodOut = tensor(out);
  EXPECT_EQ(refusal(good, goodOut), "");
  TensorArgument bad = good;
  bad.shape.dims = {99};
  EXPECT_EQ(refusal(bad, goodOut), "input 'in' must be f32 [100], not f32 [99]");
  bad = good;
  bad.sizeBytes = 399;
  EXPECT_EQ(refusal(bad, goodOut), "input 'in': 399 bytes given, f32 [100] needs 400");
  bad = good;
  bad.data = nullptr;
  EXPECT_EQ(refusal(bad, goodOut), "input 'in': neither data nor buffer is set; set one of them");
  bad = goodOut;
  bad.sizeBytes = 0;
  EXPECT_EQ(refusal(good, bad), "output 'out': 0 bytes given, f32 [100] needs 400");
  const Storage buffer = makeBuffer(512);
  bad = good;
  bad.buffer = buffer;
  EXPECT_EQ(refusal(bad, goodOut),
            "input 'in': both data and buffer are set; set only one of them");
  bad.data = nullptr;
  bad.offset = 256;
  EXPECT_EQ(refusal(bad, goodOut), "input 'in': 400 bytes from offset 256 on are not inside its "
                                   "buffer of 512 bytes");
  bad.offset = 0;
  TensorArgument badOut = goodOut;
  badOut.data = nullptr;
  badOut.buffer = buffer;
  badOut.offset = 112;
  EXPECT_EQ(
      refusal(bad, badOut),
      "input 'in' and output 'out' overlap in the same buffer; an output needs bytes of its own");
  std::vector<OutputShape> shapes;
  EXPECT_EQ(session_->submit({&good, 1}, {}, shapes).status().message(),
            "0 outputs given; the program has 1");
  EXPECT_EQ(session_->submit({}, {&goodOut, 1}, shapes).status().message(),
            "0 inputs given; the program has 1");
  EXPECT_EQ(session_->statistics().runs, 1u);
}

TEST_F(SessionTest, ReportsEachDispatchWithItsTime) {
  options_.timestamps = true;
  openChain(true);
  EXPECT_EQ(session_->dispatch(0).status().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(runChain(130).isOk());
  EXPECT_EQ(session_->dispatch(5).status().code(), StatusCode::kNotFound);
  uint64_t sum = 0;
  for (size_t i = 0; i < 5; ++i) {
    auto info = session_->dispatch(i);
    ASSERT_TRUE(info.isOk());
    EXPECT_EQ(info->workgroups[0], 3u);
    EXPECT_EQ(info->workgroupSize[0], 64u);
    EXPECT_EQ(info->flops, 130u);
    EXPECT_NE(info->binding, BindingChoice::kAuto);
    sum += info->gpuNs;
  }
  EXPECT_STREQ(session_->dispatch(3)->name, "Add_3");
  EXPECT_EQ(sum, session_->statistics().lastRunGpuNs);
  EXPECT_GT(sum, 0u);
}

TEST_F(SessionTest, DamagedConstantsAreFoundWhileUploading) {
  TestModel model;
  test::buildChain(model, model.number(100), std::vector<float>(10000, 1));
  const std::string path = scratch_.path("m.gantry");
  ASSERT_TRUE(model.write(path).isOk());
  std::vector<uint8_t> bytes = test::readBytes(path);
  bytes[bytes.size() - 20000] ^= 1;
  auto program = Program::loadMemory(bytes);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  auto session = Session::create(program.take(), heap_, options_);
  ASSERT_FALSE(session.isOk());
  EXPECT_EQ(session.status().code(), StatusCode::kDataLoss);
}

TEST_F(SessionTest, TooManyWorkgroupsAndTooLargeArenas) {
  TestModel model;
  const uint32_t x = model.input("x", ElementType::u8, {model.symbol("n", 0, 0)});
  const uint32_t t = model.apply(TestKernel::kInvert, {x}, "Invert_0");
  model.output("y", model.apply(TestKernel::kInvert, {t}, "Invert_1"));
  open(model);
  std::vector<uint8_t> in(65535 * 64 + 1), out(in.size());
  TensorArgument input, output;
  input.shape = {ElementType::u8, {static_cast<int64_t>(in.size())}};
  input.data = in.data();
  output.data = out.data();
  input.sizeBytes = output.sizeBytes = in.size();
  std::vector<OutputShape> shapes;
  auto run = session_->submit({&input, 1}, {&output, 1}, shapes);
  ASSERT_FALSE(run.isOk());
  EXPECT_EQ(run.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(run.status().message(),
            "'Invert_0' needs 65536 workgroups in dimension 0; the device allows 65535");
  const auto huge = static_cast<int64_t>(device_->profile().maxAllocationBytes) + 4096;
  input.shape.dims = {huge};
  input.sizeBytes = output.sizeBytes = static_cast<uint64_t>(huge); // The memory is not accessed.
  run = session_->submit({&input, 1}, {&output, 1}, shapes);
  ASSERT_FALSE(run.isOk());
  EXPECT_EQ(run.status().code(), StatusCode::kOutOfMemory);
  in.resize(100);
  input.shape.dims = {100};
  input.sizeBytes = 100;
  run = session_->submit({&input, 1}, {&output, 1}, shapes);
  ASSERT_TRUE(run.isOk()) << "the session must work after a failure: " << run.status().message();
  EXPECT_TRUE((*run)->wait(UINT64_MAX).take());
}

TEST_F(SessionTest, RecordingsAreBoundedAndDoNotKeepTheCallersBuffers) {
  openChain(false, 100);
  heap::BufferHandle watched;
  for (int i = 0; i < 40; ++i) {
    Storage buffer = makeBuffer(1024);
    watched = buffer.handle();
    std::vector<float> in = ramp(100, static_cast<float>(i));
    TensorArgument input = tensor(in), output;
    output.buffer = buffer;
    output.sizeBytes = 400;
    std::vector<OutputShape> shapes;
    auto run = session_->submit({&input, 1}, {&output, 1}, shapes);
    ASSERT_TRUE(run.isOk());
    ASSERT_TRUE((*run)->wait(UINT64_MAX).take());
    std::vector<float> out(100);
    std::memcpy(out.data(), buffer.mapped(), 400);
    expectChain(in, out);
    buffer.reset();
    output.buffer.reset();
    ASSERT_FALSE(heap_->isLive(watched)) << "the session still holds the caller's buffer";
  }
  EXPECT_EQ(session_->statistics().recordings, 40u);
  EXPECT_LE(session_->statistics().ioBytes, 2 * 512u)
      << "the session keeps the memory for inputs of more than two recordings";
}

TEST_F(SessionTest, EqualKernelsShareAPipeline) {
  TestModel model;
  const uint32_t x = model.input("x", ElementType::f32, {model.number(64)});
  model.output("y", model.apply(TestKernel::kTwice, {x}, "Twice_0"));
  auto copy = std::make_unique<artifact::KernelT>();
  copy->name = "the same under another name";
  copy->entry_point = "main";
  copy->workgroup_size = {64, 1, 1};
  copy->buffer_count = 2;
  copy->dim_count = 1;
  for (const auto &variant : model.program().kernels[0]->variants)
    copy->variants.push_back(std::make_unique<artifact::KernelVariantT>(*variant));
  model.program().kernels.push_back(std::move(copy));
  const uint32_t z = model.apply(TestKernel::kTwice, {x}, "Twice_1");
  model.program().commands.back()->kernel = 1;
  model.output("z", z);
  open(model);
  EXPECT_EQ(session_->statistics().pipelines, 1u);
}

} // namespace
} // namespace gantry::program

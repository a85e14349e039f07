// Tests donated inputs. A donated input lies in the arena, and other values reuse its bytes after
// its last use.
#include "tests/engine/program/session_fixture.h"

#include <cstring>

namespace gantry::program {
namespace {

using artifact::ElementType;
using test::TestKernel;
using test::TestModel;

struct DonationMode {
  const char *name;
  bool dynamic;
  bool checkMemory;
  bool staged;
};

class DonatedInput : public SessionFixture, public testing::WithParamInterface<DonationMode> {
protected:
  static constexpr int64_t kCount = 1000;

  void SetUp() override {
    SessionFixture::SetUp();
    options_.checkMemory = GetParam().checkMemory;
    options_.hooks.stageInputsAndOutputs = GetParam().staged;
  }

  /// Builds out = 2 (2 (2 in + bias) + 2 in). The first command writes to the input's storage.
  static void build(TestModel &model, bool dynamic) {
    const uint32_t dim = dynamic ? model.symbol("n", 0, 0) : model.number(kCount);
    const uint32_t in = model.donatedInput("in", ElementType::f32, {dim});
    const uint32_t bias = model.constant("bias", biases());
    const uint32_t t0 = model.applyInPlace(TestKernel::kTwice, {in}, "Twice_0");
    const uint32_t t1 = model.apply(TestKernel::kAdd, {t0, bias}, "Add_1");
    const uint32_t t2 = model.applyInPlace(TestKernel::kTwice, {t1}, "Twice_2");
    const uint32_t t3 = model.apply(TestKernel::kAdd, {t2, t0}, "Add_3");
    model.output("out", model.apply(TestKernel::kTwice, {t3}, "Twice_4"));
  }
  static std::vector<float> biases() {
    std::vector<float> values(10000);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i);
    return values;
  }
  void openDonated() {
    TestModel model;
    build(model, GetParam().dynamic);
    open(model);
  }
  /// Returns the offset of the donated input in the arena, in bytes, in the plan of the last run.
  uint64_t placeOfInput() const {
    for (const Slot &slot : session_->slotsOfLastRun())
      if (slot.donated)
        return slot.offset;
    ADD_FAILURE() << "no slot has a donated input";
    return 0;
  }
};

INSTANTIATE_TEST_SUITE_P(All, DonatedInput,
                         testing::Values(DonationMode{"direct", false, false, false},
                                         DonationMode{"staged", false, false, true},
                                         DonationMode{"checked", false, true, false},
                                         DonationMode{"checkedStaged", false, true, true},
                                         DonationMode{"dynamic", true, false, false}),
                         [](const auto &info) { return info.param.name; });

TEST_P(DonatedInput, RunsAgainAndAgain) {
  openDonated();
  EXPECT_TRUE(program_->inputs()[0].donated);
  EXPECT_FALSE(program_->outputs()[0].donated);
  for (int i = 0; i < 4; ++i) {
    const Status status = runChain(kCount, static_cast<float>(i));
    ASSERT_TRUE(status.isOk()) << status.message();
  }
}

TEST_P(DonatedInput, NeedsNoMemoryOutsideOfTheArena) {
  openChain(GetParam().dynamic, kCount);
  ASSERT_TRUE(runChain(kCount).isOk());
  const uint64_t apart = session_->statistics().ioBytes;
  openDonated();
  ASSERT_TRUE(runChain(kCount).isOk());
  // A donated input saves the memory of a separate input. With the memory check, and if inputs are
  // not staged anyway (TestHooks::stageInputsAndOutputs), it needs staging memory of the same size
  // instead.
  const uint64_t bytes = (4 * kCount + 255) / 256 * 256;
  const bool stagedForCheck = GetParam().checkMemory && !GetParam().staged;
  EXPECT_EQ(session_->statistics().ioBytes, apart - (stagedForCheck ? 0 : bytes));
}

TEST_P(DonatedInput, SeveralRunsInFlight) {
  openDonated();
  std::vector<std::vector<float>> ins, outs;
  std::vector<std::shared_ptr<program::Run>> runs;
  for (int i = 0; i < 12; ++i) {
    ins.push_back(ramp(kCount, static_cast<float>(i)));
    outs.emplace_back(kCount, -1.0f);
  }
  for (int i = 0; i < 12; ++i) {
    const TensorArgument inputs[] = {tensor(ins[i])}, outputs[] = {tensor(outs[i])};
    std::vector<OutputShape> shapes;
    auto run = session_->submit(inputs, outputs, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    runs.push_back(run.take());
  }
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(runs[i]->wait(UINT64_MAX).take());
    expectChain(ins[i], outs[i]);
  }
}

TEST_P(DonatedInput, ABufferOfTheCallerIsNotOverwritten) {
  openDonated();
  const Storage buffer = makeBuffer(8192);
  const std::vector<float> in = ramp(kCount, 3);
  std::memcpy(buffer.mapped(), in.data(), 4 * in.size());
  std::vector<float> out(in.size(), -1);
  TensorArgument input;
  input.shape.dims = {kCount};
  input.buffer = buffer;
  input.sizeBytes = 4 * in.size();
  const TensorArgument output = tensor(out);
  std::vector<OutputShape> shapes;
  for (int i = 0; i < 2; ++i) {
    auto run = session_->submit({&input, 1}, {&output, 1}, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    ASSERT_TRUE((*run)->wait(UINT64_MAX).take());
    expectChain(in, out);
    EXPECT_EQ(std::memcmp(buffer.mapped(), in.data(), 4 * in.size()), 0);
  }
}

TEST_P(DonatedInput, TheCallerMayWriteItToItsPlaceInTheCallersArena) {
  openDonated();
  ASSERT_TRUE(runChain(kCount).isOk());
  const uint64_t place = placeOfInput(), arenaBytes = session_->statistics().arenaBytes;
  session_.reset();
  options_.arena = makeBuffer(arenaBytes);
  auto session = Session::create(program_, heap_, options_);
  ASSERT_TRUE(session.isOk()) << session.status().message();
  session_ = session.take();
  const std::vector<float> in = ramp(kCount, 5);
  std::vector<float> out(in.size(), -1);
  TensorArgument input;
  input.shape.dims = {kCount};
  input.buffer = options_.arena;
  input.offset = place;
  input.sizeBytes = 4 * in.size();
  const TensorArgument output = tensor(out);
  std::vector<OutputShape> shapes;
  for (int i = 0; i < 3; ++i) { // Each run overwrites the input, so the test writes it again.
    std::memcpy(options_.arena.mapped() + place, in.data(), 4 * in.size());
    auto run = session_->submit({&input, 1}, {&output, 1}, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    ASSERT_TRUE((*run)->wait(UINT64_MAX).take());
    expectChain(in, out);
    EXPECT_NE(std::memcmp(options_.arena.mapped() + place, in.data(), 4 * in.size()), 0);
  }
  ASSERT_TRUE(runChain(kCount).isOk()) << "an input in host memory, with the same arena";
}

} // namespace
} // namespace gantry::program

// Tests states on a Vulkan device: runs that update them in place, refused and failed runs,
// sessions that share them, the caller's buffers, saves, and values that grow within their
// capacity.
#include "tests/engine/program/session_fixture.h"

#include <cstring>

namespace gantry::program {
namespace {

using artifact::ElementType;
using artifact::ExprOp;
using test::TestKernel;
using test::TestModel;

struct StateMode {
  const char *name;
  bool dynamic;
  bool checkMemory;
  bool staged; // The states lie in memory that the host does not see.
};

class StateTest : public SessionFixture, public testing::WithParamInterface<StateMode> {
protected:
  static constexpr int64_t kCount = 100;
  static constexpr uint64_t kBytes = 4 * kCount;

  void SetUp() override {
    SessionFixture::SetUp();
    options_.checkMemory = GetParam().checkMemory;
    options_.hooks.stageInputsAndOutputs = GetParam().staged;
  }
  void TearDown() override {
    options_.state.reset();
    SessionFixture::TearDown();
  }

  /// Builds a training step: seen = 2 w, then w = w + x in place.
  static void buildStep(TestModel &model, bool dynamic) {
    const uint32_t n = dynamic ? model.symbol("n", 0, 0, 1, kCount) : model.number(kCount);
    const uint32_t w = model.input("w", ElementType::f32, {n});
    const uint32_t x = model.input("x", ElementType::f32, {n});
    model.output("seen", model.apply(TestKernel::kTwice, {w}, "Twice_0"));
    const uint32_t next = model.apply(TestKernel::kAdd, {w, x}, "Add_1");
    model.output("w_next", next);
    model.state(w, next, kBytes);
  }
  void openStep() {
    TestModel model;
    buildStep(model, GetParam().dynamic);
    open(model);
  }
  /// Opens a session of another program that shares the state of session_.
  std::shared_ptr<Session> openShared(TestModel &model) {
    const std::string path = scratch_.path("shared.gantry");
    EXPECT_TRUE(model.write(path).isOk());
    SessionOptions options = options_;
    options.state = session_->state();
    auto session = Session::create(Program::load(path).take(), heap_, options);
    EXPECT_TRUE(session.isOk()) << session.status().message();
    return session.isOk() ? session.take() : nullptr;
  }
  State &state() { return *session_->state(); }
  void write(const std::vector<float> &values) {
    const TensorShape shape = {ElementType::f32, {static_cast<int64_t>(values.size())}};
    const Status status = state().write(
        0, shape, {reinterpret_cast<const uint8_t *>(values.data()), 4 * values.size()});
    ASSERT_TRUE(status.isOk()) << status.message();
  }
  std::vector<float> read() {
    std::vector<float> values(state().entries()[0].sizeBytes / 4, -1);
    const Status status =
        state().read(0, {reinterpret_cast<uint8_t *>(values.data()), 4 * values.size()});
    EXPECT_TRUE(status.isOk()) << status.message();
    return values;
  }
  /// Starts a step of session_ that adds `x`.
  Result<std::shared_ptr<program::Run>> submitStep(std::vector<float> &x,
                                                   std::vector<float> &seen) {
    const TensorArgument inputs[] = {{}, tensor(x)}, outputs[] = {tensor(seen), {}};
    std::vector<OutputShape> shapes;
    return session_->submit(inputs, outputs, shapes);
  }
  Status step(std::vector<float> &x, std::vector<float> &seen) {
    auto run = submitStep(x, seen);
    return run.isOk() ? (*run)->wait(UINT64_MAX).status() : run.status();
  }
  Status step(float value = 1) {
    std::vector<float> x(kCount, value), seen(kCount);
    return step(x, seen);
  }
};

INSTANTIATE_TEST_SUITE_P(All, StateTest,
                         testing::Values(StateMode{"direct", false, false, false},
                                         StateMode{"staged", false, false, true},
                                         StateMode{"checked", false, true, false},
                                         StateMode{"dynamic", true, false, false},
                                         StateMode{"dynamicStaged", true, false, true}),
                         [](const auto &info) { return info.param.name; });

TEST_P(StateTest, RunsUpdateItInPlace) {
  openStep();
  ASSERT_EQ(program_->states().size(), 1u);
  EXPECT_EQ(program_->states()[0].name, "w");
  EXPECT_EQ(program_->inputs()[0].state, 0u);
  EXPECT_FALSE(program_->inputs()[1].state);
  EXPECT_EQ(program_->outputs()[1].state, 0u);
  std::vector<float> expected = ramp(kCount, 1);
  write(expected);
  for (int i = 0; i < 5; ++i) {
    std::vector<float> x = ramp(kCount, static_cast<float>(10 * i)), seen(kCount);
    const Status status = step(x, seen);
    ASSERT_TRUE(status.isOk()) << status.message();
    for (size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(seen[k], 2 * expected[k]) << "the run must read the value before its own change";
      expected[k] += x[k];
    }
    ASSERT_EQ(read(), expected) << "run " << i;
  }
}

TEST_P(StateTest, RunsInFlightSeeEachOthersChanges) {
  openStep();
  write(std::vector<float>(kCount, 0));
  std::vector<float> x(kCount, 1);
  std::vector<std::vector<float>> seen(20, std::vector<float>(kCount));
  std::vector<std::shared_ptr<program::Run>> runs;
  for (auto &values : seen) {
    auto run = submitStep(x, values);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    runs.push_back(run.take());
  }
  EXPECT_EQ(read(), std::vector<float>(kCount, 20)) << "a read waits for the runs";
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_TRUE(runs[i]->hasEnded());
    EXPECT_EQ(seen[i], std::vector<float>(kCount, 2 * static_cast<float>(i)));
  }
}

TEST_P(StateTest, HasNoValueAtFirst) {
  openStep();
  EXPECT_EQ(state().entries()[0].condition, State::Condition::kUnset);
  const Status run = step();
  EXPECT_EQ(run.code(), GetParam().dynamic ? run.code() : StatusCode::kFailedPrecondition);
  EXPECT_NE(run.message().find("the state 'w' has no value yet"), std::string::npos)
      << run.message();
  std::vector<uint8_t> bytes(kBytes);
  EXPECT_EQ(state().read(0, bytes).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(state().save(scratch_.path("s")).code(), StatusCode::kFailedPrecondition);
}

TEST_P(StateTest, ARefusedRunLeavesItBitIdentical) {
  openStep();
  std::vector<float> before(kCount);
  for (size_t i = 0; i < before.size(); ++i) { // All bit patterns must survive, also those of NaNs.
    const auto bits = static_cast<uint32_t>(0x7FC00000 + 77 * i);
    std::memcpy(&before[i], &bits, 4);
  }
  write(before);
  const auto expectUnchanged = [&](const char *what) {
    const std::vector<float> after = read();
    EXPECT_EQ(std::memcmp(after.data(), before.data(), kBytes), 0) << what;
    EXPECT_EQ(state().entries()[0].condition, State::Condition::kValid) << what;
  };
  std::vector<float> x(kCount), shorter(kCount - 1), seen(kCount);
  EXPECT_EQ(step(shorter, seen).code(), StatusCode::kInvalidArgument);
  expectUnchanged("a wrong shape");
  std::vector<OutputShape> shapes;
  const TensorArgument valid[] = {{}, tensor(x)}, none[] = {{}, {}};
  EXPECT_EQ(session_->submit(valid, none, shapes).status().code(), StatusCode::kInvalidArgument);
  expectUnchanged("an output without memory");
  const TensorArgument given[] = {tensor(x), tensor(x)}, out[] = {tensor(seen), {}};
  const Status refused = session_->submit(given, out, shapes).status();
  EXPECT_NE(refused.message().find("'w' belongs to the state 'w', so a run takes no memory"),
            std::string::npos)
      << refused.message();
  expectUnchanged("memory for a port of the state");
  const Storage &place = state().entries()[0].buffer;
  TensorArgument overlapping;
  overlapping.buffer = place;
  overlapping.sizeBytes = kBytes;
  const TensorArgument onState[] = {overlapping, {}};
  EXPECT_EQ(session_->submit(valid, onState, shapes).status().code(), StatusCode::kInvalidArgument);
  expectUnchanged("an output in the state's buffer");
}

TEST_P(StateTest, AFailedRunInvalidatesItUntilItIsRestored) {
  if (!GetParam().checkMemory)
    return; // Only the memory check makes a run fail on a device that works.
  options_.binding = BindingChoice::kAddress;
  openStep();
  write(ramp(kCount, 1));
  ASSERT_TRUE(step().isOk());
  const std::string save = scratch_.path("state");
  ASSERT_TRUE(state().save(save).isOk());
  const std::vector<float> saved = read();
  TestHooks hooks;
  hooks.shiftOutputOfCommand = 1; // The kernel writes past the end of the state.
  ASSERT_TRUE(session_->replaceHooks(hooks).isOk());
  EXPECT_EQ(step().code(), StatusCode::kInternal);
  ASSERT_TRUE(session_->replaceHooks({}).isOk());
  EXPECT_EQ(state().entries()[0].condition, State::Condition::kInvalid);
  std::vector<uint8_t> bytes(kBytes);
  const Status reading = state().read(0, bytes);
  const Status accesses[] = {step(), reading, state().save(scratch_.path("other"))};
  for (const Status &access : accesses) {
    EXPECT_EQ(access.code(), StatusCode::kFailedPrecondition);
    EXPECT_NE(access.message().find("the state 'w' is not valid: run 2 of program 'test' failed"),
              std::string::npos)
        << access.message();
    EXPECT_NE(access.message().find("restore a save"), std::string::npos) << access.message();
  }
  ASSERT_TRUE(state().restore(save).isOk());
  EXPECT_EQ(read(), saved);
  ASSERT_TRUE(step().isOk());
  for (size_t i = 0; i < saved.size(); ++i)
    ASSERT_EQ(read()[i], saved[i] + 1);
}

TEST_P(StateTest, SessionsOfTwoProgramsShareIt) {
  openStep();
  write(std::vector<float>(kCount, 1));
  TestModel evaluation("evaluation"); // It only reads the state.
  const uint32_t n =
      GetParam().dynamic ? evaluation.symbol("n", 0, 0, 1, kCount) : evaluation.number(kCount);
  const uint32_t w = evaluation.input("w", ElementType::f32, {n});
  evaluation.output("y", evaluation.apply(TestKernel::kTwice, {w}, "Twice_0"));
  evaluation.state(w, std::nullopt, kBytes);
  const std::shared_ptr<Session> reader = openShared(evaluation);
  ASSERT_TRUE(reader);
  std::vector<float> x(kCount, 1), seen(kCount);
  std::vector<std::shared_ptr<program::Run>> runs;
  std::vector<std::vector<float>> ys(10, std::vector<float>(kCount));
  for (auto &y : ys) { // The test does not wait between the runs of the two sessions.
    auto training = submitStep(x, seen);
    ASSERT_TRUE(training.isOk()) << training.status().message();
    runs.push_back(training.take());
    const TensorArgument inputs[] = {{}}, outputs[] = {tensor(y)};
    std::vector<OutputShape> shapes;
    auto evaluated = reader->submit(inputs, outputs, shapes);
    ASSERT_TRUE(evaluated.isOk()) << evaluated.status().message();
    runs.push_back(evaluated.take());
  }
  EXPECT_EQ(read(), std::vector<float>(kCount, 11));
  for (size_t i = 0; i < ys.size(); ++i)
    EXPECT_EQ(ys[i], std::vector<float>(kCount, 2 * (static_cast<float>(i) + 2)));
}

TEST_P(StateTest, ASessionRefusesAStateThatDoesNotSuitItsProgram) {
  openStep();
  const auto refusal = [&](const char *name, ElementType type, int64_t count, uint64_t capacity) {
    TestModel model;
    const uint32_t w = model.input(name, type, {model.number(count)});
    model.output("y", model.apply(TestKernel::kTwice, {w}, "Twice_0"));
    model.state(w, std::nullopt, capacity);
    EXPECT_TRUE(model.write(scratch_.path("b.gantry")).isOk());
    SessionOptions options = options_;
    options.state = session_->state();
    const auto session =
        Session::create(Program::load(scratch_.path("b.gantry")).take(), heap_, options);
    EXPECT_FALSE(session.isOk());
    return session.status().message();
  };
  EXPECT_NE(refusal("v", ElementType::f32, kCount, kBytes).find("no state 'v'; there are 'w'"),
            std::string::npos);
  EXPECT_NE(refusal("w", ElementType::i32, kCount, kBytes).find("but the program needs i32 [100]"),
            std::string::npos);
  EXPECT_NE(refusal("w", ElementType::f32, kCount, 2 * kBytes)
                .find("has room for 400 bytes, but the program needs 800"),
            std::string::npos);
  if (!GetParam().dynamic) {
    EXPECT_NE(refusal("w", ElementType::f32, 8, 32).find("is f32 [100], but the program needs"),
              std::string::npos);
  }
}

TEST_P(StateTest, LiesInTheCallersBuffer) {
  openStep();
  const Storage buffer = makeBuffer(1024);
  const std::vector<float> values = ramp(kCount, 5);
  std::memcpy(buffer.mapped() + 256, values.data(), kBytes);
  TensorArgument range;
  range.shape.dims = {kCount};
  range.buffer = buffer;
  range.sizeBytes = kBytes;
  range.offset = 4;
  EXPECT_EQ(state().bind(0, range).code(), StatusCode::kInvalidArgument) << "not aligned";
  range.offset = 256;
  range.sizeBytes = kBytes - 1;
  EXPECT_EQ(state().bind(0, range).code(), StatusCode::kInvalidArgument) << "too small";
  range.sizeBytes = kBytes;
  const Status bound = state().bind(0, range);
  ASSERT_TRUE(bound.isOk()) << bound.message();
  EXPECT_EQ(read(), values) << "the buffer's bytes are the value";
  ASSERT_TRUE(step(3).isOk());
  const auto *bytes = reinterpret_cast<const float *>(buffer.mapped() + 256);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(bytes[i], values[i] + 3);
}

TEST_P(StateTest, OfADynamicShapeChangesItsLengthWithinItsCapacity) {
  if (!GetParam().dynamic)
    return; // A static state has one shape.
  openStep();
  const Storage place = state().entries()[0].buffer;
  for (int64_t n : {int64_t{10}, kCount, int64_t{1}}) {
    write(ramp(n, 1));
    std::vector<float> x = ramp(n, 2), seen(static_cast<size_t>(n));
    ASSERT_TRUE(step(x, seen).isOk());
    EXPECT_EQ(state().entries()[0].sizeBytes, static_cast<uint64_t>(4 * n));
    EXPECT_EQ(state().entries()[0].buffer.handle(), place.handle()) << "no new buffer";
    const std::vector<float> w = read();
    for (size_t i = 0; i < w.size(); ++i)
      ASSERT_EQ(w[i], ramp(n, 1)[i] + x[i]);
  }
  const std::vector<float> longer(kCount + 1);
  const TensorShape shape = {ElementType::f32, {kCount + 1}};
  const Status refused = state().write(
      0, shape, {reinterpret_cast<const uint8_t *>(longer.data()), 4 * longer.size()});
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("has room for 400 bytes, but f32 [101] has 404"),
            std::string::npos)
      << refused.message();
}

TEST_P(StateTest, GrowsByEachRunUntilItsCapacityIsReached) {
  if (!GetParam().dynamic)
    return; // A static state has one shape.
  // The state is a cache: each run appends the elements of x, doubled, to it.
  constexpr int64_t kStep = 16;
  TestModel model;
  const uint32_t n = model.symbol("n", 0, 0, 1, kCount);
  const uint32_t cache = model.input("cache", ElementType::f32, {n});
  const uint32_t x = model.input("x", ElementType::f32, {model.number(kStep)});
  const uint32_t half = model.fill("zeros", kCount, 0);
  const uint32_t kept = model.apply(TestKernel::kAdd, {cache, half}, "Keep_0");
  const uint32_t added = model.apply(TestKernel::kTwice, {x}, "Twice_1");
  const uint32_t joined = model.join({kept, added}, "Concat_2");
  const uint32_t grown = model.copy(joined, "Copy_3");
  model.output("cache_next", grown);
  model.state(cache, grown, kBytes);
  open(model);
  std::vector<float> expected(kStep, 7), values(kStep, 3);
  write(expected);
  const TensorArgument inputs[] = {{}, tensor(values)}, outputs[] = {{}};
  std::vector<OutputShape> shapes;
  while (4 * (expected.size() + kStep) <= kBytes) {
    auto run = session_->submit(inputs, outputs, shapes);
    ASSERT_TRUE(run.isOk()) << run.status().message();
    ASSERT_TRUE((*run)->wait(UINT64_MAX).isOk());
    expected.insert(expected.end(), kStep, 6);
    EXPECT_EQ(shapes[0].shape.dims[0], static_cast<int64_t>(expected.size()));
    ASSERT_EQ(read(), expected);
  }
  const Status full = session_->submit(inputs, outputs, shapes).status();
  EXPECT_EQ(full.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(full.message().find("the state 'cache' has room for 400 bytes"), std::string::npos)
      << full.message();
  EXPECT_EQ(read(), expected) << "the refused run changed the cache";
}

TEST_P(StateTest, TakesItsFirstValueFromTheArtifact) {
  TestModel model;
  const uint32_t count = model.number(kCount);
  const uint32_t w = model.input("w", ElementType::f32, {count});
  const uint32_t v = model.input("v", ElementType::f32, {count});
  const uint32_t used = model.constant("used", ramp(kCount, 9));
  const uint32_t w0 = model.constant("w0", ramp(kCount, 4));
  const uint32_t v0 = model.fill("v0", kCount, 2.5f);
  const uint32_t next = model.apply(TestKernel::kAdd, {w, used}, "Add_0");
  model.output("w_next", next);
  model.state(w, next);
  model.initial(w0);
  const uint32_t next2 = model.apply(TestKernel::kTwice, {v}, "Twice_1");
  model.output("v_next", next2);
  model.state(v, next2);
  model.initial(v0);
  open(model);
  EXPECT_EQ(read(), ramp(kCount, 4));
  const TensorArgument none[] = {{}, {}};
  std::vector<OutputShape> shapes;
  auto run = session_->submit(none, none, shapes);
  ASSERT_TRUE(run.isOk()) << run.status().message();
  ASSERT_TRUE((*run)->wait(UINT64_MAX).isOk());
  for (size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(read()[i], ramp(kCount, 4)[i] + ramp(kCount, 9)[i]);
  std::vector<float> second(kCount);
  ASSERT_TRUE(state().read(1, {reinterpret_cast<uint8_t *>(second.data()), kBytes}).isOk());
  EXPECT_EQ(second, std::vector<float>(kCount, 5));
  // The initial values of states are not kept a second time as constants, so `used` is the only
  // constant.
  EXPECT_EQ(session_->statistics().constantBytes, kBytes);
}

TEST_P(StateTest, IsStoredInTheOrderThatTheProgramNeeds) {
  // The ports have the shape [2, n, 4], and the buffer [4, 2, n]. The kernel does not know shapes,
  // so the output y shows the buffer's elements.
  constexpr int64_t kRows = 5, kHeads = 2, kWidth = 4, kElements = kHeads * kRows * kWidth;
  const auto build = [](TestModel &model, std::vector<uint8_t> order) {
    const uint32_t n = GetParam().dynamic ? model.symbol("n", 0, 1, 1, kRows) : model.number(kRows);
    const uint32_t w =
        model.input("w", ElementType::f32, {model.number(kHeads), n, model.number(kWidth)});
    model.output("y", model.apply(TestKernel::kTwice, {w}, "Twice_0"));
    model.state(w, std::nullopt, 4 * kElements);
    model.order(std::move(order));
  };
  TestModel model;
  build(model, {2, 0, 1});
  open(model);
  const std::vector<float> values = ramp(kElements, 1);
  const TensorShape shape = {ElementType::f32, {kHeads, kRows, kWidth}};
  const auto bytesOf = [](const std::vector<float> &from) {
    return std::span(reinterpret_cast<const uint8_t *>(from.data()), 4 * from.size());
  };
  ASSERT_TRUE(state().write(0, shape, bytesOf(values)).isOk());
  const auto elementsOfBuffer = [&] {
    std::vector<float> y(kElements);
    const TensorArgument inputs[] = {{}}, outputs[] = {tensor(y)};
    std::vector<OutputShape> shapes;
    auto run = session_->submit(inputs, outputs, shapes);
    EXPECT_TRUE(run.isOk()) << run.status().message();
    EXPECT_TRUE(run.isOk() && (*run)->wait(UINT64_MAX).isOk());
    for (float &element : y)
      element /= 2;
    return y;
  };
  std::vector<float> ordered;
  for (int64_t i = 0; i < kWidth; ++i)
    for (int64_t head = 0; head < kHeads; ++head)
      for (int64_t row = 0; row < kRows; ++row)
        ordered.push_back(values[static_cast<size_t>((head * kRows + row) * kWidth + i)]);
  EXPECT_EQ(elementsOfBuffer(), ordered);
  EXPECT_EQ(read(), values);
  // A file has the order of the ports.
  ASSERT_TRUE(state().save(scratch_.path("state")).isOk());
  const std::vector<uint8_t> file = test::readBytes(scratch_.path("state"));
  EXPECT_EQ(std::memcmp(file.data() + file.size() - 4 * kElements, values.data(), 4 * kElements),
            0);
  ASSERT_TRUE(state().write(0, shape, bytesOf(ramp(kElements, 7))).isOk());
  ASSERT_TRUE(state().restore(scratch_.path("state")).isOk());
  EXPECT_EQ(read(), values);
  EXPECT_EQ(elementsOfBuffer(), ordered);
  // A caller's buffer has the order of the program.
  const Storage buffer = makeBuffer(1024);
  std::memcpy(buffer.mapped(), ordered.data(), 4 * kElements);
  TensorArgument range;
  range.shape = shape;
  range.buffer = buffer;
  range.sizeBytes = 4 * kElements;
  ASSERT_TRUE(state().bind(0, range).isOk());
  EXPECT_EQ(read(), values);
  // A program with another order cannot share the state.
  TestModel other;
  build(other, {});
  ASSERT_TRUE(other.write(scratch_.path("b.gantry")).isOk());
  SessionOptions options = options_;
  options.state = session_->state();
  const auto session =
      Session::create(Program::load(scratch_.path("b.gantry")).take(), heap_, options);
  ASSERT_FALSE(session.isOk());
  EXPECT_NE(session.status().message().find("in the order 2, 0, 1, but the program needs the order "
                                            "0, 1, 2; give each of the two sessions"),
            std::string::npos)
      << session.status().message();
}

TEST_P(StateTest, SavesAndRestores) {
  openStep();
  write(ramp(kCount, 1));
  ASSERT_TRUE(step(2).isOk());
  const std::string path = scratch_.path("state");
  const Status saved = state().save(path);
  ASSERT_TRUE(saved.isOk()) << saved.message();
  const std::vector<float> values = read();
  ASSERT_TRUE(step(5).isOk());
  EXPECT_NE(read(), values);
  ASSERT_TRUE(state().restore(path).isOk());
  EXPECT_EQ(read(), values);
  const std::vector<uint8_t> bytes = test::readBytes(path);
  std::vector<uint8_t> damaged = bytes;
  damaged.back() ^= 1;
  test::writeBytes(path, damaged);
  EXPECT_EQ(state().restore(path).code(), StatusCode::kDataLoss);
  EXPECT_EQ(state().restore(scratch_.path("m.gantry")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(state().restore(scratch_.path("none")).code(), StatusCode::kNotFound);
  EXPECT_EQ(read(), values) << "a refused file changed the state";
}

} // namespace
} // namespace gantry::program

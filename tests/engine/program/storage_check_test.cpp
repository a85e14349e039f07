// Tests the storage checker on states, whose input and output share one buffer. random_graphs
// (tests/e2e) tests it on values in the arena and on outputs.
#include "engine/program/storage_check.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

namespace gantry::program {
namespace {

using artifact::ElementType;
using test::TestKernel;
using test::TestModel;

/// Returns the message of checkStorage() for a program with fixed sizes.
std::string messageOf(TestModel &model) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Program::Pack(builder, &model.finish()));
  const auto &program = *flatbuffers::GetRoot<artifact::Program>(builder.GetBufferPointer());
  auto plan = makeShapePlan(program, {}, {});
  EXPECT_TRUE(plan.isOk()) << plan.status().message();
  return plan.isOk() ? checkStorage(program, *plan).message() : "";
}

/// A training step: seen = 2 w, and w_next = w + x, which is written over w.
class StorageOfStates : public testing::Test {
protected:
  void SetUp() override {
    const uint32_t n = model_.number(100);
    w_ = model_.input("w", ElementType::f32, {n});
    x_ = model_.input("x", ElementType::f32, {n});
  }
  void see() { model_.output("seen", model_.apply(TestKernel::kTwice, {w_}, "Twice")); }
  void step() {
    next_ = model_.apply(TestKernel::kAdd, {w_, x_}, "Add");
    model_.output("w_next", next_);
    model_.state(w_, next_);
  }
  artifact::CommandT &lastCommand() { return *model_.program().commands.back(); }

  TestModel model_;
  uint32_t w_ = 0, x_ = 0, next_ = 0;
};

TEST_F(StorageOfStates, AcceptsAStepInPlace) {
  see();
  step();
  EXPECT_EQ(messageOf(model_), "");
}

TEST_F(StorageOfStates, RefusesAReadOfTheOldValueAfterItIsOverwritten) {
  step();
  see();
  EXPECT_NE(messageOf(model_).find("command 1 reads bytes"), std::string::npos);
  EXPECT_NE(messageOf(model_).find("of value 0, which value 2 has overwritten"), std::string::npos)
      << messageOf(model_);
}

TEST_F(StorageOfStates, RefusesAStepThatIsNotInPlace) {
  step();
  lastCommand().in_place = UINT32_MAX;
  EXPECT_NE(messageOf(model_).find("of value 2 over value 0, which it reads"), std::string::npos)
      << messageOf(model_);
}

TEST_F(StorageOfStates, RefusesANextValueThatNothingWrites) {
  step();
  const uint32_t other = model_.copy(x_, "Identity");
  model_.program().commands.pop_back();
  lastCommand().bindings.back() = other;
  lastCommand().in_place = UINT32_MAX;
  EXPECT_NE(messageOf(model_).find("command 1 reads bytes"), std::string::npos)
      << messageOf(model_);
}

TEST_F(StorageOfStates, AcceptsAStateThatKeepsItsValue) {
  next_ = model_.copy(w_, "Identity");
  model_.output("w_next", next_);
  model_.state(w_, next_);
  EXPECT_EQ(messageOf(model_), "");
}

TEST_F(StorageOfStates, OnlyAPartialCommandMayMakeAStateLarger) {
  step();
  model_.program().values[next_]->dims = {model_.number(150)};
  model_.program().values[next_]->size = model_.number(600);
  EXPECT_NE(messageOf(model_).find("which it reads"), std::string::npos) << messageOf(model_);
  lastCommand().partial = true;
  EXPECT_EQ(messageOf(model_), "");
}

} // namespace
} // namespace gantry::program

// Tests checkProgramStorage() on programs that are made by hand.
#include "codegen/emit/boxes.h"
#include "engine/artifact/artifact_generated.h"

#include <gtest/gtest.h>

namespace gantry::codegen {
namespace {

/// A program of values of 64 bytes.
class ProgramStorage : public testing::Test {
protected:
  /// Adds a value and returns its index. The value is a port of the program, too.
  uint32_t add(artifact::Storage storage) {
    const auto index = static_cast<uint32_t>(program_.values.size());
    auto value = std::make_unique<artifact::ValueT>();
    value->storage = storage;
    value->size = exprs_.constant(64);
    program_.values.push_back(std::move(value));
    auto port = std::make_unique<artifact::PortT>();
    port->value = index;
    (storage == artifact::Storage::output ? program_.outputs : program_.inputs)
        .push_back(std::move(port));
    return index;
  }
  /// Adds a command that writes the last of its bindings, and returns it.
  artifact::CommandT &write(std::vector<uint32_t> bindings) {
    auto command = std::make_unique<artifact::CommandT>();
    command->writes.resize(bindings.size());
    command->writes.back() = 1;
    command->bindings = std::move(bindings);
    program_.commands.push_back(std::move(command));
    return *program_.commands.back();
  }
  /// buffers: as for checkProgramStorage().
  std::string message(const std::vector<uint32_t> &buffers) {
    return checkProgramStorage(program_, exprs_, buffers).message();
  }

  artifact::ProgramT program_;
  ShapeExprs exprs_{program_};
};

TEST_F(ProgramStorage, AnOutputThatNothingWritesIsAnError) {
  const uint32_t output = add(artifact::Storage::output);
  EXPECT_NE(message({0}).find("value 0, which no command has written"), std::string::npos)
      << message({0});
  write({output});
  EXPECT_EQ(message({0}), "");
}

TEST_F(ProgramStorage, AStateIsOverwrittenOnlyInPlace) {
  const uint32_t old = add(artifact::Storage::input), next = add(artifact::Storage::output);
  artifact::CommandT &step = write({old, next});
  EXPECT_EQ(message({0, 1}), "") << "without a state, the two have buffers of their own";
  EXPECT_NE(message({0, 0}).find("of value 1 over value 0, which it reads"), std::string::npos)
      << message({0, 0});
  step.in_place = 0;
  EXPECT_EQ(message({0, 0}), "");
  step.in_place = UINT32_MAX;
  step.kind = artifact::CommandKind::copy;
  EXPECT_EQ(message({0, 0}), "") << "a state that keeps its value";
}

TEST_F(ProgramStorage, AStateIsNotReadAfterItIsOverwritten) {
  const uint32_t old = add(artifact::Storage::input), next = add(artifact::Storage::output),
                 seen = add(artifact::Storage::output);
  write({next});
  write({old, seen});
  EXPECT_EQ(message({0, 1, 2}), "");
  EXPECT_NE(message({0, 0, 2}).find("of value 0, which value 1 has overwritten"), std::string::npos)
      << message({0, 0, 2});
}

} // namespace
} // namespace gantry::codegen

// Tests checkProgramStorage() on a program that is made by hand.
#include "codegen/emit/boxes.h"
#include "engine/artifact/artifact_generated.h"

#include <gtest/gtest.h>

namespace gantry::codegen {
namespace {

TEST(ProgramStorage, AnOutputThatNothingWritesIsAnError) {
  artifact::ProgramT program;
  ShapeExprs exprs(program);
  auto value = std::make_unique<artifact::ValueT>();
  value->storage = artifact::Storage::output;
  value->size = exprs.constant(64);
  program.values.push_back(std::move(value));
  program.outputs.push_back(std::make_unique<artifact::PortT>());
  const Status status = checkProgramStorage(program, exprs);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("value 0, which no command has written"), std::string::npos)
      << status.message();
  auto command = std::make_unique<artifact::CommandT>();
  command->bindings = {0};
  command->writes = {1};
  program.commands.push_back(std::move(command));
  EXPECT_TRUE(checkProgramStorage(program, exprs).isOk());
}

} // namespace
} // namespace gantry::codegen

// Tests of shapes.h: the values that symbols (dynamic sizes) take from input shapes, the sizes of
// tensors in bytes, and the error messages.
#include "engine/program/shapes.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

namespace gantry::program {
namespace {

using artifact::ElementType;
using test::TestKernel;
using test::TestModel;

/// Tests a program with the inputs x[batch, 4, time] and y[time, 2 * batch], where 2 ≤ time ≤ 64.
class ShapesTest : public testing::Test {
protected:
  void SetUp() override {
    TestModel model;
    const uint32_t batch = model.symbol("batch", 0, 0);
    const uint32_t time = model.symbol("time", 0, 2, 2, 64);
    const uint32_t x = model.input("x", ElementType::f32, {batch, model.number(4), time});
    model.input("y", ElementType::f32,
                {time, model.combine(artifact::ExprOp::mul, model.number(2), batch)});
    model.output("z", model.apply(TestKernel::kTwice, {x}, "Twice_0"));
    const std::string path = scratch_.path("m.gantry");
    ASSERT_TRUE(model.write(path).isOk());
    program_ = Program::load(path).take();
  }
  /// Returns the error message for inputs of these shapes, or "" if they are valid.
  std::string refusal(std::vector<int64_t> x, std::vector<int64_t> y,
                      ElementType type = ElementType::f32) {
    const TensorShape shapes[] = {{type, std::move(x)}, {ElementType::f32, std::move(y)}};
    auto symbols = bindSymbols(*program_, shapes);
    if (!symbols.isOk()) {
      EXPECT_EQ(symbols.status().code(), StatusCode::kInvalidArgument);
      return symbols.status().message();
    }
    const auto exprs = artifact::evaluateExprs(program_->metadata(), *symbols);
    const Status derived = checkDerivedDims(*program_, shapes, *exprs);
    return derived.message();
  }
  test::ScratchFolder scratch_;
  std::shared_ptr<const Program> program_;
};

TEST_F(ShapesTest, PortsHaveDimsAndDimNames) {
  const Port &x = program_->inputs()[0];
  EXPECT_EQ(x.dims, (std::vector<int64_t>{kDynamic, 4, kDynamic}));
  EXPECT_EQ(x.dimNames, (std::vector<std::string>{"batch", "", "time"}));
  EXPECT_EQ(program_->inputs()[1].dimNames, (std::vector<std::string>{"time", ""}));
}

TEST_F(ShapesTest, SymbolsComeFromTheInputs) {
  const TensorShape shapes[] = {{ElementType::f32, {3, 4, 7}}, {ElementType::f32, {7, 6}}};
  EXPECT_EQ(*bindSymbols(*program_, shapes), (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(refusal({3, 4, 7}, {7, 6}), "");
}

TEST_F(ShapesTest, ErrorsNameThePortTheExpectedAndTheGivenShape) {
  EXPECT_EQ(refusal({3, 4}, {7, 6}), "input 'x' must be f32 [batch, 4, time], not f32 [3, 4]");
  EXPECT_EQ(refusal({3, 5, 7}, {7, 6}),
            "input 'x' must be f32 [batch, 4, time], not f32 [3, 5, 7]");
  EXPECT_EQ(refusal({-3, 4, 7}, {7, 6}),
            "input 'x' must be f32 [batch, 4, time], not f32 [-3, 4, 7]");
  EXPECT_EQ(refusal({3, 4, 7}, {7, 6}, ElementType::i64),
            "input 'x' must be f32 [batch, 4, time], not i64 [3, 4, 7]");
  EXPECT_EQ(refusal({3, 4, 65}, {65, 6}),
            "dimension 2 (time) of input 'x' is 65; it may be at most 64");
  EXPECT_EQ(refusal({3, 4, 1}, {1, 6}),
            "dimension 2 (time) of input 'x' is 1; it must be at least 2");
  EXPECT_EQ(refusal({3, 4, 7}, {8, 6}), "dimension 0 (time) of input 'y' is 8, but it must equal "
                                        "dimension 2 (time) of input 'x', which is 7");
  EXPECT_EQ(refusal({3, 4, 7}, {7, 5}),
            "dimension 1 of input 'y' is 5; the other dimensions require 6");
  const TensorShape one[] = {{ElementType::f32, {3, 4, 7}}};
  EXPECT_EQ(bindSymbols(*program_, one).status().message(), "1 inputs given; the program has 2");
}

TEST_F(ShapesTest, SizesThatOverflowAreRefused) {
  EXPECT_EQ(*byteSize({ElementType::f32, {3, 4}}, "x"), 48u);
  EXPECT_EQ(*byteSize({ElementType::f32, {}}, "x"), 4u);
  EXPECT_EQ(
      byteSize({ElementType::f32, {int64_t{1} << 40, int64_t{1} << 40}}, "x").status().message(),
      "the size of 'x', f32 [1099511627776, 1099511627776], overflows 64 bits");
}

} // namespace
} // namespace gantry::program

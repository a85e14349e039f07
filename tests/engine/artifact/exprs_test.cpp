// Tests shape expressions: evaluation, constant folding and their text.
#include "engine/artifact/exprs.h"
#include "tests/engine/artifact/sample_program.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gantry::artifact {
namespace {

/// Makes programs in memory with expressions over the unbounded symbols a and b.
class Exprs : public testing::Test {
protected:
  /// Returns a program. Expressions 0 and 1 are the symbols; the expressions of `more` follow. If
  /// `size` is not 0, the program has a value whose size is the expression with this index.
  /// requirements: the indices of the expressions that must not be negative.
  const Program &make(std::vector<Expr> more, uint32_t size = 0,
                      std::vector<uint32_t> requirements = {}) {
    ProgramT p;
    p.dynamic = true;
    for (const char *name : {"a", "b"}) {
      auto symbol = std::make_unique<SymbolT>();
      symbol->name = name;
      symbol->min = INT64_MIN;
      p.symbols.push_back(std::move(symbol));
    }
    p.exprs = {Expr(ExprOp::symbol, 0, 0, 0), Expr(ExprOp::symbol, 0, 0, 1)};
    p.exprs.insert(p.exprs.end(), more.begin(), more.end());
    if (size != 0) {
      auto value = std::make_unique<ValueT>();
      value->name = "tensor";
      value->size = size;
      p.values.push_back(std::move(value));
    }
    p.requirements = std::move(requirements);
    builder_.Clear();
    builder_.Finish(Program::Pack(builder_, &p));
    return *GetProgram(builder_.GetBufferPointer());
  }

  /// Returns the value of the expression `op`(a, b).
  int64_t apply(ExprOp op, int64_t a, int64_t b) {
    const auto values = evaluateExprs(make({Expr(op, 0, 1, 0)}), std::vector<int64_t>{a, b});
    EXPECT_TRUE(values.isOk()) << values.status().message();
    return values.isOk() ? (*values)[2] : INT64_MIN;
  }

  std::string failure(const Program &program, std::vector<int64_t> symbols) {
    const auto values = evaluateExprs(program, symbols);
    EXPECT_FALSE(values.isOk());
    EXPECT_EQ(values.status().code(), StatusCode::kInvalidArgument);
    return values.status().message();
  }

  flatbuffers::FlatBufferBuilder builder_;
};

TEST_F(Exprs, Arithmetic) {
  EXPECT_EQ(apply(ExprOp::add, 5, -7), -2);
  EXPECT_EQ(apply(ExprOp::sub, 5, 7), -2);
  EXPECT_EQ(apply(ExprOp::mul, -5, 7), -35);
  EXPECT_EQ(apply(ExprOp::min, -5, 7), -5);
  EXPECT_EQ(apply(ExprOp::max, -5, 7), 7);
}

TEST_F(Exprs, DivisionRoundsDownOrUp) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (int64_t b = -4; b <= 4; ++b) {
      if (b == 0)
        continue;
      const double exact = static_cast<double>(a) / static_cast<double>(b);
      const auto down = static_cast<int64_t>(std::floor(exact));
      EXPECT_EQ(apply(ExprOp::floor_div, a, b), down) << a << " / " << b;
      EXPECT_EQ(apply(ExprOp::ceil_div, a, b), static_cast<int64_t>(std::ceil(exact)));
      EXPECT_EQ(apply(ExprOp::mod, a, b), a - b * down);
    }
  }
}

TEST_F(Exprs, OverflowNamesTheExpression) {
  const Expr product(ExprOp::mul, 0, 1, 0);
  const std::string message = failure(make({product}), {INT64_MAX, 2});
  EXPECT_NE(message.find("(a * b), overflows 64 bits"), std::string::npos) << message;
  EXPECT_NE(message.find("9223372036854775807 and 2"), std::string::npos) << message;
  failure(make({Expr(ExprOp::add, 0, 1, 0)}), {INT64_MAX, 1});
  failure(make({Expr(ExprOp::sub, 0, 1, 0)}), {INT64_MIN, 1});
  for (const ExprOp op : {ExprOp::floor_div, ExprOp::ceil_div, ExprOp::mod})
    failure(make({Expr(op, 0, 1, 0)}), {INT64_MIN, -1});
}

TEST_F(Exprs, DivisionByZeroNamesTheExpression) {
  for (const ExprOp op : {ExprOp::floor_div, ExprOp::ceil_div, ExprOp::mod}) {
    const std::string message = failure(make({Expr(op, 0, 1, 0)}), {3, 0});
    EXPECT_NE(message.find(std::string(EnumNameExprOp(op)) + "(a, b), divides by zero"),
              std::string::npos)
        << message;
  }
}

TEST_F(Exprs, RequirementsMustNotBeNegative) {
  const Program &program = make({Expr(ExprOp::sub, 0, 1, 0)}, 0, {2});
  EXPECT_TRUE(evaluateExprs(program, std::vector<int64_t>{5, 5}).isOk());
  const std::string message = failure(program, {3, 5});
  EXPECT_NE(message.find("(a - b) is -2"), std::string::npos) << message;
}

TEST_F(Exprs, ExpressionsMayBeNegativeButSizesMayNot) {
  EXPECT_EQ(apply(ExprOp::sub, 3, 5), -2);
  const std::string message = failure(make({Expr(ExprOp::sub, 0, 1, 0)}, 2), {3, 5});
  EXPECT_EQ(message, "the size of \"tensor\" would be -2: (a - b)");
}

TEST_F(Exprs, SymbolsAreCountedAndBounded) {
  EXPECT_EQ(failure(make({}), {1}), "1 symbol values given; the program has 2 symbols");
  const std::vector<uint8_t> file = fileOf(dynamicProgram());
  const auto artifact = Artifact::fromMemory(file);
  ASSERT_TRUE(artifact.isOk());
  EXPECT_EQ(failure((*artifact)->program(), {0}), "dimension batch is 0; it must be at least 1");
  EXPECT_EQ(failure((*artifact)->program(), {1001}),
            "dimension batch is 1001; it may be at most 1000");
  const auto values = evaluateExprs((*artifact)->program(), std::vector<int64_t>{7});
  ASSERT_TRUE(values.isOk()) << values.status().message();
  EXPECT_EQ(*values, (std::vector<int64_t>{7, 16, 112, 4, 448, 64, 2, 1, 256}));
}

TEST_F(Exprs, LongTextIsTruncated) {
  std::vector<Expr> doublings;
  for (uint32_t i = 1; i < 200; ++i)
    doublings.emplace_back(ExprOp::add, i, i, 0);
  const std::string text = exprText(make(doublings), 200);
  EXPECT_LT(text.size(), 200u);
  EXPECT_EQ(text.substr(text.size() - 3), "...");
}

TEST_F(Exprs, ConstantExpressionsAreFolded) {
  const auto folded = foldConstantExprs(make(
      {Expr(ExprOp::constant, 0, 0, 6), Expr(ExprOp::mul, 2, 2, 0), Expr(ExprOp::add, 3, 0, 0)}));
  ASSERT_TRUE(folded.isOk());
  EXPECT_EQ((*folded)[3], 36);
  EXPECT_EQ((*folded)[0], std::nullopt);
  EXPECT_EQ((*folded)[4], std::nullopt);
}

} // namespace
} // namespace gantry::artifact

// Compares the upper bounds of random shape expressions (Expr in engine/artifact/artifact.fbs) with
// their values at all values of the symbols.
#include "codegen/emit/size_bounds.h"
#include "engine/artifact/artifact_generated.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace gantry::codegen {
namespace {

using artifact::Expr;
using artifact::ExprOp;

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// Returns the values of the expressions for the symbols s and t, or nothing if a divisor is not
/// positive.
std::optional<std::vector<int64_t>> evaluate(const std::vector<Expr> &exprs, int64_t s, int64_t t) {
  std::vector<int64_t> values;
  for (const Expr &expr : exprs) {
    const int64_t a = expr.lhs() < values.size() ? values[expr.lhs()] : 0;
    const int64_t b = expr.rhs() < values.size() ? values[expr.rhs()] : 0;
    switch (expr.op()) {
    case ExprOp::constant:
      values.push_back(expr.value());
      continue;
    case ExprOp::symbol:
      values.push_back(expr.value() == 0 ? s : t);
      continue;
    case ExprOp::add:
      values.push_back(a + b);
      continue;
    case ExprOp::sub:
      values.push_back(a - b);
      continue;
    case ExprOp::mul:
      values.push_back(a * b);
      continue;
    case ExprOp::min:
      values.push_back(std::min(a, b));
      continue;
    case ExprOp::max:
      values.push_back(std::max(a, b));
      continue;
    default:
      break;
    }
    if (b <= 0)
      return std::nullopt;
    values.push_back(expr.op() == ExprOp::floor_div  ? floorDiv(a, b)
                     : expr.op() == ExprOp::ceil_div ? -floorDiv(-a, b)
                                                     : a - floorDiv(a, b) * b);
  }
  return values;
}

/// Returns a program with the expressions and two symbols, whose values are 2 to 9 and 1 to 6.
artifact::ProgramT programWith(std::vector<Expr> exprs) {
  artifact::ProgramT program;
  for (const auto &[min, max] : {std::pair{2, 9}, std::pair{1, 6}}) {
    program.symbols.push_back(std::make_unique<artifact::SymbolT>());
    program.symbols.back()->min = min;
    program.symbols.back()->max = max;
  }
  program.exprs = std::move(exprs);
  return program;
}

TEST(SizeBounds, HoldsForEveryValueOfTheSymbols) {
  std::mt19937 random(7);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  int bounded = 0, exact = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Expr> exprs{Expr(ExprOp::symbol, 0, 0, 0), Expr(ExprOp::symbol, 0, 0, 1)};
    while (exprs.size() < 7) {
      const auto op = static_cast<ExprOp>(2 + below(8));
      if (below(4) == 0)
        exprs.emplace_back(ExprOp::constant, 0, 0, static_cast<int64_t>(below(12)) - 3);
      else
        exprs.emplace_back(op, below(static_cast<uint32_t>(exprs.size())),
                           below(static_cast<uint32_t>(exprs.size())), 0);
    }
    const auto bounds = maxOfExprs(programWith(exprs));
    if (!bounds.isOk())
      continue; // A divisor may be zero or negative.
    ++bounded;
    int64_t reached = INT64_MIN;
    for (int64_t s = 2; s <= 9; ++s)
      for (int64_t t = 1; t <= 6; ++t) {
        const auto values = evaluate(exprs, s, t);
        ASSERT_TRUE(values) << "a divisor is not positive, but maxOfExprs() returned no error";
        for (size_t i = 0; i < exprs.size(); ++i)
          ASSERT_LE((*values)[i], (*bounds)[i]) << "expression " << i << " at " << s << ", " << t;
        reached = std::max(reached, values->back());
      }
    exact += reached == bounds->back();
  }
  EXPECT_GT(bounded, 500);
  EXPECT_GT(exact, bounded / 2) << "too many bounds are not reached";
}

TEST(SizeBounds, RefusesOverflowAndDivisionByZero) {
  const Expr symbol(ExprOp::symbol, 0, 0, 0), large(ExprOp::constant, 0, 0, INT64_MAX / 2);
  EXPECT_FALSE(maxOfExprs(programWith({symbol, large, Expr(ExprOp::mul, 0, 1, 0)})).isOk());
  EXPECT_TRUE(maxOfExprs(programWith({symbol, large, Expr(ExprOp::min, 0, 1, 0)})).isOk());
  const Expr two(ExprOp::constant, 0, 0, 2);
  EXPECT_FALSE(maxOfExprs(programWith({symbol, two, Expr(ExprOp::sub, 0, 1, 0),
                                       Expr(ExprOp::floor_div, 1, 2, 0)}))
                   .isOk());
}

} // namespace
} // namespace gantry::codegen

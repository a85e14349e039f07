// Tests the simplification of index expressions against integer arithmetic.
#include "codegen/tiling/index_expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

#include <random>

namespace gantry::codegen {
namespace {

struct Sample {
  IndexExpr expr;
  std::vector<int64_t> values; // The expression's value at each assignment of the variables.
};

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

TEST(IndexExpr, ExpressionsThatDifferByAConstantShareTheirBase) {
  IndexSpace space;
  IndexExpr i = space.addVariable({}, 0, 13);
  IndexExpr four = space.scale(i, 4);
  IndexExpr next = space.add(four, IndexExpr(1));
  EXPECT_EQ(four.base(), next.base());
  EXPECT_EQ(space.baseDivisor(next), 4);
}

// An index has 32 bits, so the IR must not have larger constants, whatever the range of a dividend
// is.
TEST(IndexExpr, DivisionsHaveNoConstantsBeyond32Bits) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect>();
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  mlir::Value value =
      builder.create<mlir::arith::ConstantIndexOp>(builder.getUnknownLoc(), 1).getResult();
  for (const int64_t low : {int64_t(-8), -INT64_C(1) << 30, -INT64_C(1) << 40}) {
    IndexSpace space;
    IndexExpr quotient = space.floorDiv(space.addVariable(value, low, 100), IndexExpr(3));
    space.materialize(quotient, builder, builder.getUnknownLoc());
  }
  int divisions = 0;
  module->walk([&](mlir::Operation *op) {
    divisions += mlir::isa<mlir::arith::DivUIOp>(op) ? 1 : 0;
    if (auto constant = mlir::dyn_cast<mlir::arith::ConstantIndexOp>(op)) {
      EXPECT_LE(constant.value(), INT32_MAX);
      EXPECT_GE(constant.value(), INT32_MIN);
    }
  });
  EXPECT_EQ(divisions, 3);
}

TEST(IndexExpr, QuotientsWithoutCarrySimplify) {
  IndexSpace space;
  IndexExpr i = space.addVariable({}, 0, 6);
  // (8·i + 3) / 8 = i and (8·i + 3) mod 8 = 3.
  IndexExpr x = space.add(space.scale(i, 8), IndexExpr(3));
  EXPECT_EQ(space.floorDiv(x, IndexExpr(8)), i);
  EXPECT_EQ(space.mod(x, IndexExpr(8)), IndexExpr(3));
  // (8·i + j) / 56 is the same quotient for all j < 8.
  EXPECT_EQ(space.floorDiv(x, IndexExpr(56)), space.floorDiv(space.scale(i, 8), IndexExpr(56)));
}

TEST(IndexExpr, EqualQuotientsAreOneVariable) {
  IndexSpace space;
  IndexExpr i = space.addVariable({}, 0, 1000);
  IndexExpr a = space.floorDiv(space.add(i, IndexExpr(2)), IndexExpr(7));
  IndexExpr b = space.floorDiv(space.add(i, IndexExpr(2)), IndexExpr(7));
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a.isConstant());
}

TEST(IndexExpr, UnknownVariablesStayUnbounded) {
  IndexSpace space;
  IndexExpr i = space.addVariable({}, -IndexSpace::kUnbounded, IndexSpace::kUnbounded);
  IndexRange range = space.range(space.add(space.scale(i, -3), IndexExpr(5)));
  EXPECT_EQ(range.low, -IndexSpace::kUnbounded);
  EXPECT_EQ(range.high, IndexSpace::kUnbounded);
}

// An index below an extent that is known only at run time needs no test that it is inside.
TEST(IndexExpr, LimitsOfVariablesAreKnown) {
  IndexSpace space;
  const IndexExpr extent = space.addVariable({}, 1, 1000);
  const IndexExpr last = space.sub(extent, IndexExpr(1));
  const IndexExpr i = space.addVariableBelow({}, extent);
  EXPECT_TRUE(space.isNeverNegative(space.sub(last, i)));
  EXPECT_FALSE(space.isNeverNegative(space.sub(last, space.add(i, IndexExpr(1)))));
  // A remainder is below its divisor.
  const IndexExpr rest = space.mod(space.addVariable({}, 0, 5000), extent);
  EXPECT_TRUE(space.isNeverNegative(space.sub(last, rest)));
}

// If the width of a row and the first index of four neighbours are multiples of four, the
// neighbours are in one row, and the index of the first one in the row is a multiple of four.
TEST(IndexExpr, QuotientsByExtentsAreWithoutCommonFactors) {
  IndexSpace space;
  const IndexExpr width = space.scale(space.addVariable({}, 1, 1000), 4);
  const IndexExpr first = space.scale(space.addVariable({}, 0, 5000), 4);
  const IndexExpr third = space.add(first, IndexExpr(2));
  EXPECT_EQ(space.floorDiv(first, width), space.floorDiv(third, width));
  EXPECT_EQ(space.baseDivisor(space.mod(first, width)), 4);
  EXPECT_EQ(space.add(space.mod(first, width), IndexExpr(2)), space.mod(third, width));
  EXPECT_EQ(space.joined(space.floorDiv(third, width), space.mod(third, width), width), third);
  EXPECT_EQ(space.joined(space.floorDiv(third, width), space.mod(first, width), width), first);
  EXPECT_FALSE(space.joined(first, space.mod(first, width), width));
}

// Builds random expressions together with their values at a few assignments of the variables. The
// ranges must contain the values, and expressions that compare equal must have equal values.
TEST(IndexExpr, RandomExpressionsKeepTheirValues) {
  unsigned seed = 20261121;
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
  mlir::MLIRContext context;
  const mlir::AffineExpr first = mlir::getAffineDimExpr(0, &context),
                         second = mlir::getAffineDimExpr(1, &context);
  for (int round = 0; round < 300; ++round) {
    IndexSpace space;
    constexpr int kAssignments = 8;
    std::vector<Sample> pool;
    for (int v = 0; v < 3; ++v) {
      int64_t low = int64_t(random() % 9) - 4, high = low + 1 + random() % 60;
      Sample sample{space.addVariable({}, low, high), {}};
      for (int a = 0; a < kAssignments; ++a)
        sample.values.push_back(low + random() % (high - low + 1));
      pool.push_back(sample);
    }
    Sample extent{space.scale(space.addVariable({}, 1, 20), 1 + random() % 4), {}}, below;
    const int64_t factor = extent.expr.terms.front().second;
    below.expr = space.addVariableBelow({}, extent.expr);
    for (int a = 0; a < kAssignments; ++a) {
      extent.values.push_back(factor * (1 + random() % 20));
      below.values.push_back(random() % extent.values.back());
    }
    pool.push_back(extent);
    pool.push_back(below);
    for (int step = 0; step < 12; ++step) {
      const Sample a = pool[random() % pool.size()], b = pool[random() % pool.size()];
      int64_t k = 1 + random() % 12;
      Sample made;
      int op = random() % 10;
      if (op == 0)
        made.expr = space.add(a.expr, b.expr);
      else if (op == 1)
        made.expr = space.scale(a.expr, k - 6);
      else if (op == 2)
        made.expr = space.floorDiv(a.expr, IndexExpr(k));
      else if (op == 3)
        made.expr = space.mod(a.expr, IndexExpr(k));
      else if (op == 4)
        made.expr = space.add(a.expr, IndexExpr(k));
      else if (op == 5)
        made.expr = space.floorDiv(a.expr, extent.expr);
      else if (op == 6)
        made.expr = space.mod(a.expr, extent.expr);
      else if (op == 7)
        made.expr = space.addScaled(a.expr, b.expr, k - 6);
      else if (op == 8)
        made.expr = space.evaluate(first * k + second, {a.expr, b.expr}, {});
      else
        made.expr = step < 6 ? space.mul(a.expr, b.expr) : space.sub(a.expr, b.expr);
      bool small = true;
      for (int i = 0; i < kAssignments; ++i) {
        int64_t x = a.values[i], y = b.values[i], n = extent.values[i];
        int64_t value = op == 0    ? x + y
                        : op == 1  ? x * (k - 6)
                        : op == 2  ? floorDivide(x, k)
                        : op == 3  ? x - floorDivide(x, k) * k
                        : op == 4  ? x + k
                        : op == 5  ? floorDivide(x, n)
                        : op == 6  ? x - floorDivide(x, n) * n
                        : op == 7  ? x + (k - 6) * y
                        : op == 8  ? x * k + y
                        : step < 6 ? x * y
                                   : x - y;
        small &= std::abs(value) < (int64_t(1) << 40);
        made.values.push_back(value);
        IndexRange range = space.range(made.expr);
        ASSERT_LE(range.low, value) << "seed " << seed << " round " << round;
        ASSERT_GE(range.high, value) << "seed " << seed << " round " << round;
        ASSERT_TRUE(value >= 0 || !space.isNeverNegative(made.expr))
            << "seed " << seed << " round " << round;
      }
      for (const Sample &other : pool) {
        if (other.expr == made.expr) {
          ASSERT_EQ(other.values, made.values) << "seed " << seed << " round " << round;
        }
      }
      if (small)
        pool.push_back(made);
    }
  }
}

} // namespace
} // namespace gantry::codegen

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

// Builds random expressions together with their values at a few assignments of the variables. The
// ranges must contain the values, and expressions that compare equal must have equal values.
TEST(IndexExpr, RandomExpressionsKeepTheirValues) {
  unsigned seed = 20261121;
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
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
    for (int step = 0; step < 12; ++step) {
      const Sample a = pool[random() % pool.size()], b = pool[random() % pool.size()];
      int64_t k = 1 + random() % 12;
      Sample made;
      int op = random() % 6;
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
      else
        made.expr = step < 6 ? space.mul(a.expr, b.expr) : space.sub(a.expr, b.expr);
      bool small = true;
      for (int i = 0; i < kAssignments; ++i) {
        int64_t x = a.values[i], y = b.values[i];
        int64_t value = op == 0    ? x + y
                        : op == 1  ? x * (k - 6)
                        : op == 2  ? floorDivide(x, k)
                        : op == 3  ? x - floorDivide(x, k) * k
                        : op == 4  ? x + k
                        : step < 6 ? x * y
                                   : x - y;
        small &= std::abs(value) < (int64_t(1) << 40);
        made.values.push_back(value);
        IndexRange range = space.range(made.expr);
        ASSERT_LE(range.low, value) << "seed " << seed << " round " << round;
        ASSERT_GE(range.high, value) << "seed " << seed << " round " << round;
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

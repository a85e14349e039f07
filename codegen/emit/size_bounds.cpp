// Implements size_bounds.h.
#include "codegen/emit/size_bounds.h"

#include "engine/artifact/artifact.h"

#include <algorithm>
#include <array>

namespace gantry::codegen {

namespace {

struct Interval {
  int64_t min = 0, max = 0;
};

using Wide = __int128;

Wide floorDiv(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

/// Sets `result` to the interval of operation(x, y) for x in `a` and y in `b`. The operation must
/// have its extremes at ends of both intervals, as monotonic operations do. Returns false if the
/// result exceeds 64 bits.
template <typename Operation>
bool atCorners(const Interval &a, const Interval &b, Interval &result, Operation operation) {
  const std::array<Wide, 4> corners{operation(a.min, b.min), operation(a.min, b.max),
                                    operation(a.max, b.min), operation(a.max, b.max)};
  const auto [min, max] = std::minmax_element(corners.begin(), corners.end());
  result = {static_cast<int64_t>(*min), static_cast<int64_t>(*max)};
  return *min >= INT64_MIN && *max <= INT64_MAX;
}

/// Sets `result` to the interval of `op` with operands in `a` and `b`. Returns false if the
/// interval exceeds 64 bits or a divisor may be below 1.
bool combine(artifact::ExprOp op, const Interval &a, const Interval &b, Interval &result) {
  using artifact::ExprOp;
  switch (op) {
  case ExprOp::add:
    return atCorners(a, b, result, [](Wide x, Wide y) { return x + y; });
  case ExprOp::sub:
    return atCorners(a, b, result, [](Wide x, Wide y) { return x - y; });
  case ExprOp::mul:
    return atCorners(a, b, result, [](Wide x, Wide y) { return x * y; });
  case ExprOp::min:
    return atCorners(a, b, result, [](Wide x, Wide y) { return std::min(x, y); });
  case ExprOp::max:
    return atCorners(a, b, result, [](Wide x, Wide y) { return std::max(x, y); });
  case ExprOp::floor_div:
    return b.min > 0 && atCorners(a, b, result, floorDiv);
  case ExprOp::ceil_div:
    return b.min > 0 && atCorners(a, b, result, [](Wide x, Wide y) { return -floorDiv(-x, y); });
  case ExprOp::mod:
    result = {0, b.max - 1};
    if (a.min >= 0)
      result.max = std::min(result.max, a.max);
    return b.min > 0;
  case ExprOp::constant:
  case ExprOp::symbol:
    break;
  }
  return false;
}

} // namespace

Result<std::vector<int64_t>> maxOfExprs(const artifact::ProgramT &program) {
  std::vector<Interval> intervals;
  std::vector<int64_t> max;
  for (const artifact::Expr &expr : program.exprs) {
    Interval interval;
    if (expr.op() == artifact::ExprOp::constant) {
      interval = {expr.value(), expr.value()};
    } else if (expr.op() == artifact::ExprOp::symbol) {
      const artifact::SymbolT &symbol = *program.symbols[static_cast<size_t>(expr.value())];
      interval = {symbol.min, symbol.max};
    } else if (!combine(expr.op(), intervals[expr.lhs()], intervals[expr.rhs()], interval)) {
      return Status(StatusCode::kInvalidArgument,
                    "a size overflows 64 bits, or is divided by a number below 1, at the limits of "
                    "the dynamic dimensions; give lower upper limits (--dim NAME=..MAX)");
    }
    intervals.push_back(interval);
    max.push_back(interval.max);
  }
  return max;
}

} // namespace gantry::codegen

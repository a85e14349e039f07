// Implements online_softmax.h.
#include "codegen/tiling/emitter/online_softmax.h"

#include "codegen/dialect/rounding.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/sink/operation_cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kMaxKeysPerStep = 8; // Keys whose values are accumulated together.
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Returns a float as f32: the f32 value that it was truncated from in this kernel, or its
/// extension if there is no such value.
Value inFloat32(OpBuilder &builder, Location loc, Value value) {
  if (!value || value.getType().isF32())
    return value;
  auto truncation = storedFloat(value.getDefiningOp());
  if (truncation && truncation.getIn().getType().isF32())
    return truncation.getIn();
  return builder.create<arith::ExtFOp>(loc, builder.getF32Type(), value);
}

} // namespace

/// The rows of weights to which some points of the result belong.
struct OnlineSoftmax::Rows {
  std::vector<Point> rows; // Each row's index: that of its weights without the last dimension.
  llvm::SmallVector<size_t> rowOf; // The position in `rows`, by point of the result.
  IndexExpr keys;                  // The number of keys.

  // Positions in the values that the loop over the blocks carries: first the sum of each point,
  // then the maximum of each row, then the sum of exponentials of each row.
  size_t maximum(size_t row) const { return rowOf.size() + row; }
  size_t total(size_t row) const { return rowOf.size() + rows.size() + row; }
};

/// The state of a row's softmax after some blocks.
struct OnlineSoftmax::RowState {
  Value maximum; // The largest score so far.
  Value total;   // The sum of exp(score - maximum) over this lane's keys.
  Value scale;   // The factor that converts sums from the previous maximum to this one.
};

Value OnlineSoftmax::constant(float value) {
  return sink_.build([&](OpBuilder &builder, Location loc) {
    return builder.create<arith::ConstantOp>(loc, builder.getF32FloatAttr(value));
  });
}

// ---- weights ------------------------------------------------------------------------------------

/// Returns a key's score in f32, or `none` for a key beyond the last one (`inside` < 0).
Value OnlineSoftmax::maskedScore(Value score, const IndexExpr &inside, Value none, Value zero) {
  return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    score = inFloat32(builder, loc, score);
    const IndexRange range = space_.range(inside);
    if (range.high < 0)
      return none;
    if (range.low >= 0)
      return score;
    Value test =
        builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, sink_.index(inside), zero);
    return builder.create<arith::SelectOp>(loc, test, score, none);
  });
}

/// Returns a row's weights of this lane's keys in a block, not yet divided by the row's sum.
/// Updates `row`.
Values OnlineSoftmax::weigh(llvm::ArrayRef<Value> scores, const Columns &keys, RowState &row) {
  const size_t count = keys.index.size();
  sink_.count(Cost::kArithmetic, (kExponentialCost + 3) * static_cast<double>(count + 1));
  auto maximum = [&](Value a, Value b) { return sink_.create<arith::MaximumFOp>(a, b); };
  const Value lowest = constant(std::numeric_limits<float>::lowest());
  const Value none = constant(-kInfinity);
  const Value zero = sink_.create<arith::ConstantIndexOp>(0);
  Value largest;
  Values weights(count);
  for (size_t k = 0; k < count; ++k) {
    weights[k] = maskedScore(scores[k], keys.inside[k], none, zero);
    largest = k == 0 ? weights[k] : maximum(largest, weights[k]);
  }
  largest = maximum(row.maximum, lanes_.reduceLanes(largest, maximum));
  // (-inf) - (-inf) would be NaN, so the base is at least the lowest finite number.
  const Value base = maximum(largest, lowest);
  auto relative = [&](Value score) {
    Value difference = sink_.create<arith::SubFOp>(score, base);
    return sink_.create<math::ExpOp>(difference);
  };
  row.scale = relative(row.maximum);
  row.maximum = largest;
  row.total = sink_.create<arith::MulFOp>(row.total, row.scale);
  for (Value &weight : weights) {
    weight = relative(weight);
    row.total = sink_.create<arith::AddFOp>(row.total, weight);
  }
  return weights;
}

// ---- values -------------------------------------------------------------------------------------

/// Returns, in all lanes, the value of one lane, converted to the float type `type`.
Value OnlineSoftmax::fromLane(Value value, int64_t lane, Type type) {
  if (tile_.lanes > 1) {
    sink_.count(Cost::kShuffle);
    value = sink_.shuffle(value, lane);
  }
  return type.isF32() ? value : sink_.create<arith::TruncFOp>(type, value);
}

/// Returns the key, or the last key if `key` lies beyond it. The weight of such a key is 0.
IndexExpr OnlineSoftmax::clampedKey(const IndexExpr &key, const IndexExpr &last) {
  if (space_.range(space_.sub(last, key)).low >= 0)
    return key;
  sink_.count(Cost::kArithmetic);
  Value clamped = sink_.create<arith::MinUIOp>(sink_.index(key), sink_.index(last));
  return space_.addVariable(clamped, 0, space_.range(last).high, tile_.lanes == 1);
}

/// Adds the values of a block of keys, times their weights, to `sums`. weights: by row, then by the
/// keys of this lane.
void OnlineSoftmax::addWeighted(const Attention &attention, const Rows &rows,
                                const IndexExpr &block, llvm::ArrayRef<Values> weights,
                                llvm::ArrayRef<Point> points, const PointGrid &grid, Values &sums) {
  linalg::GenericOp product = attention.product;
  const unsigned keyLoop = attention.keyLoop();
  const IndexExpr last = space_.sub(rows.keys, IndexExpr(1));
  const Type element = getElementTypeOrSelf(attention.weights->get().getType());
  const int64_t perRun = tile_.lanes * tile_.keyRun, all = tile_.keys * tile_.lanes;
  for (int64_t first = 0; first < all; first += kMaxKeysPerStep) {
    std::vector<LoopIndex> steps;
    Values passed;
    for (int64_t key = first; key < std::min(all, first + kMaxKeysPerStep); ++key) {
      steps.emplace_back(product.getNumLoops(), IndexExpr(0));
      steps.back()[keyLoop] =
          clampedKey(space_.add(space_.scale(block, all), IndexExpr(key)), last);
      // The lane that has the key, and the key's position among the keys of that lane.
      const int64_t lane = key / tile_.keyRun % tile_.lanes;
      const int64_t held = key / perRun * tile_.keyRun + key % tile_.keyRun;
      Values byRow;
      for (const Values &mine : weights)
        byRow.push_back(fromLane(mine[held], lane, element));
      for (size_t row : rows.rowOf)
        passed.push_back(byRow[row]);
    }
    accumulation_.accumulate(product, steps, points, grid, sums, {attention.weights, passed});
  }
}

// ---- blocks -------------------------------------------------------------------------------------

/// Returns the rows of these points. If the lanes of a subgroup would have different rows, returns
/// none and lets the generation of the kernel fail (KernelSink::fail).
std::optional<OnlineSoftmax::Rows> OnlineSoftmax::rowsOf(const Attention &attention,
                                                         llvm::ArrayRef<Point> points) {
  linalg::GenericOp product = attention.product;
  const AffineMap output = product.getIndexingMapsArray().back();
  const AffineMap read = product.getMatchingIndexingMap(attention.weights);
  Rows rows;
  std::map<std::vector<IndexExpr>, size_t> known;
  for (const Point &point : points) {
    LoopIndex coordinates = shapes_.loopCoordinates(product, output, point);
    Point row;
    row.guard = point.guard;
    for (AffineExpr expr : read.getResults().drop_back()) {
      row.index.push_back(space_.evaluate(expr, coordinates, {}));
      if (tile_.lanes > 1 && !space_.isUniform(row.index.back()))
        sink_.fail(product);
    }
    auto [found, inserted] = known.try_emplace(keyOf(row), rows.rows.size());
    rows.rowOf.push_back(found->second);
    if (inserted)
      rows.rows.push_back(std::move(row));
  }
  if (sink_.unsupported())
    return std::nullopt;
  return rows;
}

/// Returns the scores of this lane's keys in a block: by row, then by key.
Values OnlineSoftmax::scoresOf(const Attention &attention, const Rows &rows, const Columns &keys) {
  std::vector<Point> points;
  for (const Point &row : rows.rows)
    for (const IndexExpr &key : keys.index) {
      points.push_back(row);
      points.back().index.push_back(key);
    }
  const PointGrid grid{{static_cast<int64_t>(rows.rows.size()), tile_.keys}, 1};
  return evaluator_.evaluate(attention.scores, points, grid);
}

/// Emits one round of the loop over the blocks of keys.
void OnlineSoftmax::emitBlock(const Attention &attention, const Rows &rows, const IndexExpr &block,
                              llvm::ArrayRef<Point> points, const PointGrid &grid,
                              Values &carried) {
  const Columns keys = lanes_.columnsOf(block, rows.keys, tile_.keys, tile_.keyRun);
  const Values scores = scoresOf(attention, rows, keys);
  if (sink_.unsupported())
    return;
  std::vector<Values> weights;
  Values scales;
  for (size_t r = 0; r < rows.rows.size(); ++r) {
    RowState row{carried[rows.maximum(r)], carried[rows.total(r)], {}};
    weights.push_back(weigh(llvm::ArrayRef(scores).slice(r * tile_.keys, tile_.keys), keys, row));
    carried[rows.maximum(r)] = row.maximum;
    carried[rows.total(r)] = row.total;
    scales.push_back(row.scale);
  }
  Values sums(points.size(), constant(0));
  addWeighted(attention, rows, block, weights, points, grid, sums);
  sink_.count(Cost::kArithmetic, 2 * static_cast<double>(points.size()));
  for (size_t i = 0; i < points.size(); ++i) {
    Value scaled = sink_.create<arith::MulFOp>(carried[i], scales[rows.rowOf[i]]);
    carried[i] = sink_.create<arith::AddFOp>(scaled, sums[i]);
  }
}

/// Returns 1 / total, the factor that turns a row's sums into the result. extent: the number of
/// keys.
Value OnlineSoftmax::reciprocalOf(Value maximum, Value total, const IndexExpr &extent) {
  return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    // If all scores of a row are -inf, its softmax is NaN. If there are no keys, the result is 0.
    Value none = builder.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, maximum,
                                               constant(-kInfinity));
    total = builder.create<arith::SelectOp>(
        loc, none, constant(std::numeric_limits<float>::quiet_NaN()), total);
    if (!extent.isConstant()) {
      Value empty =
          builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, sink_.index(extent),
                                        builder.create<arith::ConstantIndexOp>(loc, 0));
      total = builder.create<arith::SelectOp>(loc, empty, constant(1), total);
    }
    return builder.create<arith::DivFOp>(loc, constant(1), total);
  });
}

Values OnlineSoftmax::evaluate(const Attention &attention, llvm::ArrayRef<Point> points,
                               const PointGrid &grid) {
  std::optional<Rows> rows = rowsOf(attention, points);
  if (!rows)
    return Values(points.size());
  Values carried(points.size(), constant(0));
  carried.append(rows->rows.size(), constant(-kInfinity));
  carried.append(rows->rows.size(), constant(0));
  rows->keys = shapes_.loopExtents(attention.product)[attention.keyLoop()];
  loops_.forTrips(space_.ceilDiv(rows->keys, tile_.keys * tile_.lanes), carried,
                  [&](const IndexExpr &block, Values &inside) {
                    emitBlock(attention, *rows, block, points, grid, inside);
                  });
  if (sink_.unsupported())
    return Values(points.size());
  Values reciprocals;
  for (size_t r = 0; r < rows->rows.size(); ++r) {
    // The cost model ignores this sum over the lanes, which runs once per row.
    Value total = sink_.build([&](OpBuilder &, Location) {
      return lanes_.reduceLanes(carried[rows->total(r)], [&](Value a, Value b) {
        return sink_.create<arith::AddFOp>(a, b);
      });
    });
    reciprocals.push_back(reciprocalOf(carried[rows->maximum(r)], total, rows->keys));
  }
  Values result;
  for (size_t i = 0; i < points.size(); ++i)
    result.push_back(sink_.create<arith::MulFOp>(carried[i], reciprocals[rows->rowOf[i]]));
  return result;
}

} // namespace gantry::codegen

// Attention in one kernel: softmax(scores) · values without the scores in memory.
//
// A tile has some rows and all elements of their values. It goes through the keys block by block
// and keeps, per row, the largest score so far, the sum of the exponentials relative to it, and
// the sums of the values weighted by these; where a block has a larger score, what has been summed
// is scaled down to it. (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018;
// Rabe and Staats, "Self-attention does not need O(n^2) memory", 2021; Dao et al.,
// "FlashAttention", 2022.) The scores come from the evaluator, so whatever stands between their
// product and the softmax (scales, masks, conversions) is computed in place.
//
// Where a subgroup shares the tile, its lanes are along the keys while scores are computed and
// along the values' elements while these are summed; in between, each weight is passed from the
// lane that has it to all. Each lane sums its own exponentials; the lanes' sums are added at the
// end.
#include "codegen/dialect/rounding.h"
#include "codegen/tiling/attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

#include <limits>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kKeysAtOnce = 8;  // of the values' product
constexpr double kExponential = 20; // relative to an addition, as in kernel_evaluator.cpp

} // namespace

/// The float as f32: what it was before it was truncated in this kernel.
Value KernelEvaluator::inFloat32(Value value) {
  if (!value || value.getType().isF32())
    return value;
  auto truncation = storedFloat(value.getDefiningOp());
  if (truncation && truncation.getIn().getType().isF32())
    return truncation.getIn();
  return builder_->create<arith::ExtFOp>(loc(), builder_->getF32Type(), value);
}

/// The weights of a row's keys in a block, not yet divided by their total.
Values KernelEvaluator::weigh(llvm::ArrayRef<Value> scores, const Columns &keys, OnlineRow &row) {
  const size_t count = keys.index.size();
  counts_.arithmetic += weight_ * ((kExponential + 3) * (count + 1));
  Value largest;
  Values weights(count);
  if (!builder_) {
    acrossLanes({}, {});
    return weights;
  }
  auto maximum = [&](Value a, Value b) -> Value {
    return builder_->create<arith::MaximumFOp>(loc(), a, b);
  };
  const Value lowest = floatOf(std::numeric_limits<float>::lowest());
  const Value none = floatOf(-std::numeric_limits<float>::infinity());
  const Value zero = builder_->create<arith::ConstantIndexOp>(loc(), 0);
  for (size_t k = 0; k < count; ++k) {
    weights[k] = inFloat32(scores[k]);
    if (space_.range(keys.inside[k]).high < 0) {
      weights[k] = none;
    } else if (space_.range(keys.inside[k]).low < 0) {
      Value test = builder_->create<arith::CmpIOp>(loc(), arith::CmpIPredicate::sge,
                                                   valueOf(keys.inside[k]), zero);
      weights[k] = builder_->create<arith::SelectOp>(loc(), test, weights[k], none);
    }
    largest = k == 0 ? weights[k] : maximum(largest, weights[k]);
  }
  largest = maximum(row.maximum, acrossLanes(largest, maximum));
  // Scores of -inf alone have no weight: relative to a number they are not (-inf) - (-inf).
  const Value base = maximum(largest, lowest);
  auto relative = [&](Value score) -> Value {
    Value difference = builder_->create<arith::SubFOp>(loc(), score, base);
    return builder_->create<math::ExpOp>(loc(), difference);
  };
  row.scale = relative(row.maximum);
  row.maximum = largest;
  row.total = builder_->create<arith::MulFOp>(loc(), row.total, row.scale);
  for (Value &weight : weights) {
    weight = relative(weight);
    row.total = builder_->create<arith::AddFOp>(loc(), row.total, weight);
  }
  return weights;
}

/// Adds to `sums` the values of a block of keys by their weights: weights[row][key of a lane].
void KernelEvaluator::addWeighted(const Attention &attention, const IndexExpr &block,
                                  llvm::ArrayRef<Values> weights, llvm::ArrayRef<size_t> rowOf,
                                  llvm::ArrayRef<Point> points, Values &sums) {
  linalg::GenericOp product = attention.product;
  const unsigned keyLoop = attention.keyLoop();
  const IndexExpr last = space_.sub(loopExtents(product)[keyLoop], IndexExpr(1));
  const Type element = getElementTypeOrSelf(attention.weights->get().getType());
  const int64_t perRun = tile_.lanes * tile_.keyRun, all = tile_.keys * tile_.lanes;
  for (int64_t first = 0; first < all; first += kKeysAtOnce) {
    std::vector<llvm::SmallVector<IndexExpr, 6>> steps;
    Values passed;
    for (int64_t key = first; key < std::min(all, first + kKeysAtOnce); ++key) {
      IndexExpr index = space_.add(space_.scale(block, all), IndexExpr(key));
      if (space_.range(space_.sub(last, index)).low < 0) { // any key: its weight is 0
        counts_.arithmetic += weight_;
        Value clamped;
        if (builder_)
          clamped = builder_->create<arith::MinUIOp>(loc(), valueOf(index), valueOf(last));
        index = space_.addVariable(clamped, 0, space_.range(last).high, tile_.lanes == 1);
      }
      steps.emplace_back(product.getNumLoops(), IndexExpr(0));
      steps.back()[keyLoop] = index;
      // Of which lane, and of its keys which.
      const int64_t lane = key / tile_.keyRun % tile_.lanes;
      const int64_t held = key / perRun * tile_.keyRun + key % tile_.keyRun;
      Values ofRow;
      for (const Values &mine : weights)
        ofRow.push_back(fromLane(mine[held], lane, element));
      for (size_t row : rowOf)
        passed.push_back(ofRow[row]);
    }
    accumulate(product, steps, points, sums, attention.weights, passed);
  }
}

/// A lane's value in all lanes, as a float of that type.
Value KernelEvaluator::fromLane(Value value, int64_t lane, Type type) {
  if (tile_.lanes > 1)
    counts_.shuffles += weight_;
  if (!builder_)
    return {};
  if (tile_.lanes > 1) {
    auto scope = spirv::ScopeAttr::get(builder_->getContext(), spirv::Scope::Subgroup);
    Value id = builder_->create<spirv::ConstantOp>(
        loc(), builder_->getI32Type(), builder_->getI32IntegerAttr(static_cast<int32_t>(lane)));
    value =
        builder_->create<spirv::GroupNonUniformShuffleOp>(loc(), value.getType(), scope, value, id);
    shuffles_.push_back(value.getDefiningOp());
  }
  return type.isF32() ? value : builder_->create<arith::TruncFOp>(loc(), type, value);
}

Value KernelEvaluator::floatOf(float value) {
  if (!builder_)
    return {};
  return builder_->create<arith::ConstantOp>(loc(), builder_->getF32FloatAttr(value));
}

Values KernelEvaluator::evaluateAttention(const Attention &attention,
                                          llvm::ArrayRef<Point> points) {
  linalg::GenericOp product = attention.product;
  const AffineMap output = product.getIndexingMapsArray().back();
  const AffineMap read = product.getMatchingIndexingMap(attention.weights);
  std::vector<Point> rows;
  llvm::SmallVector<size_t> rowOf;
  std::map<std::vector<IndexExpr>, size_t> known;
  for (const Point &point : points) {
    auto coordinates = loopCoordinates(product, output, point);
    Point row;
    row.guard = point.guard;
    for (AffineExpr expr : read.getResults().drop_back()) {
      row.index.push_back(space_.evaluate(expr, coordinates, {}));
      if (tile_.lanes > 1 && !space_.isUniform(row.index.back()))
        fail(product);
    }
    auto [found, inserted] = known.try_emplace({row.index.begin(), row.index.end()}, rows.size());
    rowOf.push_back(found->second);
    if (inserted)
      rows.push_back(std::move(row));
  }
  if (unsupported_)
    return Values(points.size());

  // Carried from block to block: the sums of the points, then the rows' maxima and totals.
  Values carried(points.size(), floatOf(0));
  carried.append(rows.size(), floatOf(-std::numeric_limits<float>::infinity()));
  carried.append(rows.size(), floatOf(0));
  const IndexExpr extent = loopExtents(product)[attention.keyLoop()];
  forTrips(space_.ceilDiv(extent, tile_.keys * tile_.lanes), carried,
           [&](const IndexExpr &block, Values &inside) {
             const Columns keys = columnsOf(block, extent, tile_.keys, tile_.keyRun);
             std::vector<Point> scored;
             for (const Point &row : rows)
               for (const IndexExpr &key : keys.index) {
                 scored.push_back(row);
                 scored.back().index.push_back(key);
               }
             scoresTile_ = {static_cast<int64_t>(rows.size()), tile_.keys};
             Values scores = evaluate(attention.scores, scored);
             scoresTile_.clear();
             if (unsupported_)
               return;
             std::vector<Values> weights;
             Values scales;
             for (size_t r = 0; r < rows.size(); ++r) {
               Value &maximum = inside[points.size() + r];
               Value &total = inside[points.size() + rows.size() + r];
               OnlineRow row{maximum, total, {}};
               weights.push_back(
                   weigh(llvm::ArrayRef(scores).slice(r * tile_.keys, tile_.keys), keys, row));
               maximum = row.maximum;
               total = row.total;
               scales.push_back(row.scale);
             }
             Values sums(points.size(), floatOf(0));
             addWeighted(attention, block, weights, rowOf, points, sums);
             counts_.arithmetic += 2 * weight_ * points.size();
             if (!builder_)
               return;
             for (size_t i = 0; i < points.size(); ++i) {
               Value scaled = builder_->create<arith::MulFOp>(loc(), inside[i], scales[rowOf[i]]);
               inside[i] = builder_->create<arith::AddFOp>(loc(), scaled, sums[i]);
             }
           });
  if (!builder_ || unsupported_)
    return Values(points.size());

  Values reciprocals;
  for (size_t r = 0; r < rows.size(); ++r) {
    Value total =
        acrossLanes(carried[points.size() + rows.size() + r], [&](Value a, Value b) -> Value {
          return builder_->create<arith::AddFOp>(loc(), a, b);
        });
    // A row of -inf alone is no distribution; no keys at all add up to 0.
    Value none = builder_->create<arith::CmpFOp>(loc(), arith::CmpFPredicate::OEQ,
                                                 carried[points.size() + r],
                                                 floatOf(-std::numeric_limits<float>::infinity()));
    total = builder_->create<arith::SelectOp>(
        loc(), none, floatOf(std::numeric_limits<float>::quiet_NaN()), total);
    if (!extent.isConstant()) {
      Value empty =
          builder_->create<arith::CmpIOp>(loc(), arith::CmpIPredicate::eq, valueOf(extent),
                                          builder_->create<arith::ConstantIndexOp>(loc(), 0));
      total = builder_->create<arith::SelectOp>(loc(), empty, floatOf(1), total);
    }
    reciprocals.push_back(builder_->create<arith::DivFOp>(loc(), floatOf(1), total));
  }
  Values result;
  for (size_t i = 0; i < points.size(); ++i)
    result.push_back(builder_->create<arith::MulFOp>(loc(), carried[i], reciprocals[rowOf[i]]));
  return result;
}

} // namespace gantry::codegen

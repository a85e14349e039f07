// Implements reduction.h.
#include "codegen/tiling/emitter/reduction.h"

#include "codegen/tiling/attention.h"
#include "codegen/tiling/emitter/dot_products.h"
#include "codegen/tiling/emitter/matmul.h"
#include "codegen/tiling/emitter/online_softmax.h"
#include "codegen/tiling/emitter/row_reduction.h"
#include "codegen/tiling/emitter/staging.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kBlockedSumLength = 1024; // Sums with at least this many steps use blocks.
constexpr int64_t kMaxBlock = 128; // Max rounds per block, if one loop is divided into blocks.
constexpr size_t kNotStaged = ~size_t(0);

/// Returns whether the body adds a float to the accumulator.
bool isSum(linalg::GenericOp op) {
  auto yield = cast<linalg::YieldOp>(op.getRegion().front().getTerminator());
  auto add = yield.getOperand(0).getDefiningOp<arith::AddFOp>();
  Value accumulator = op.getRegionOutputArgs().front();
  return add && accumulator.hasOneUse() &&
         (add.getLhs() == accumulator || add.getRhs() == accumulator);
}

int64_t largestDivisor(int64_t value, int64_t limit) {
  for (int64_t d = std::min(value, limit); d > 1; --d)
    if (value % d == 0)
      return d;
  return 1;
}

} // namespace

/// One loop of a nest.
struct Reductions::Level {
  unsigned dim; // The loop of the linalg operation.
  IndexExpr trips;
  int64_t multiplier; // The steps of `dim` by which one round advances.
  int64_t rest = 0;   // The steps of `dim` after the last round, fewer than are unrolled.
};

/// The loop nest of a reduction, from the outermost loop to the innermost.
struct Reductions::Nest {
  linalg::GenericOp op;
  llvm::ArrayRef<Point> points;
  const PointGrid &grid;
  llvm::SmallVector<Level> levels{};
  llvm::SmallVector<int64_t> unrolls{}; // The steps of one round, by reduction dimension.
  // The loops before this position of `levels` go from stage to stage. A stage is a group of steps
  // whose operands are in shared memory at one time (staging.h). Operands are staged inside of
  // these loops, before the other loops, which go over the steps of one stage.
  size_t stageLevel = kNotStaged;
  // Whether each round of the outermost loop sums a block of steps from zero and then adds the sum
  // to the accumulators.
  bool isBlocked = false;
};

/// Returns the number of steps of a reduction dimension that are unrolled. It divides the extent,
/// except where TileShape::reduction permits a rest.
int64_t Reductions::unrollOf(size_t reductionDim, const IndexExpr &extent) const {
  const int64_t unroll = reductionDim < tile_.reduction.size() ? tile_.reduction[reductionDim] : 1;
  const bool mayHaveRest =
      extent.isConstant() && tile_.mayHaveRest() && extent.constant >= 2 * unroll;
  return mayHaveRest || space_.divisor(extent) % unroll == 0 ? unroll : 1;
}

Values Reductions::evaluate(linalg::GenericOp op, llvm::ArrayRef<Point> points,
                            const PointGrid &grid) {
  auto &known = results_[op];
  Values result;
  for (const Point &point : points)
    if (auto found = known.find(keyOf(point)); found != known.end())
      result.push_back(found->second);
  if (result.size() == points.size())
    return result;
  if (op.getNumDpsInits() != 1) {
    sink_.fail(op);
    return Values(points.size());
  }
  result = reduce(op, points, grid);
  for (auto [point, value] : llvm::zip(points, result))
    known[keyOf(point)] = value;
  return result;
}

Values Reductions::reduce(linalg::GenericOp op, llvm::ArrayRef<Point> points,
                          const PointGrid &grid) {
  if (tile_.matrix)
    return parts_.matmul.evaluate(op, points, grid);
  if (tile_.keys > 0)
    if (const auto attention = attentionOf(op))
      return parts_.attention.evaluate(*attention, points, grid);
  if (tile_.reducesRows)
    return reduceRows(op, points);
  const Nest nest = nestOf(op, points, grid);
  Values accumulators = parts_.evaluator.evaluate(op.getDpsInits().front(), points, grid);
  if (tile_.buffers > 1 && !parts_.shared.words().empty())
    parts_.shared.barrier(); // Waits until operands that other reductions staged are read.
  emitLevel(nest, 0, LoopIndex(op.getNumLoops(), IndexExpr(0)), IndexExpr(0), accumulators);
  return accumulators;
}

Values Reductions::reduceRows(linalg::GenericOp op, llvm::ArrayRef<Point> points) {
  Values results;
  for (const Point &point : points)
    results.push_back(point.guard == 0
                          ? parts_.rows.reduce(op, point, parts_.rows.startOf(op, point))
                          : sink_.fail(op)); // Not supported: the row's loads have no guard.
  return results;
}

Reductions::Nest Reductions::nestOf(linalg::GenericOp op, llvm::ArrayRef<Point> points,
                                    const PointGrid &grid) {
  Nest nest{op, points, grid};
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  auto extents = shapes_.loopExtents(op);
  llvm::SmallVector<Level> &levels = nest.levels;
  llvm::SmallVector<Level> outer; // The loops that go from stage to stage.
  int64_t total = 1;
  for (auto [q, dim] : llvm::enumerate(reductionDims)) {
    const int64_t unroll = unrollOf(q, extents[dim]);
    nest.unrolls.push_back(unroll);
    if (!extents[dim].isConstant()) {
      levels.push_back({dim, space_.floorDiv(extents[dim], IndexExpr(unroll)), unroll});
      total = kBlockedSumLength; // The sum may be long.
      continue;
    }
    const int64_t extent = extents[dim].constant;
    total *= extent;
    if (extent == 0) {
      levels.push_back({dim, IndexExpr(0), 1});
      continue;
    }
    const int64_t staged = q < tile_.stageSteps.size() ? tile_.stageSteps[q] : extent;
    if (int64_t trips = staged / unroll; trips != 1)
      levels.push_back({dim, IndexExpr(trips), unroll, staged % unroll});
    if (int64_t trips = extent / staged; trips != 1)
      outer.push_back({dim, IndexExpr(trips), staged});
  }
  // Longer loops are placed inside shorter ones. In a convolution, the addresses and guards of the
  // window depend only on the short loops, and are then computed outside of the long ones.
  if (llvm::all_of(levels, [](const Level &level) { return level.trips.isConstant(); }))
    std::stable_sort(levels.begin(), levels.end(), [](const Level &a, const Level &b) {
      return a.trips.constant < b.trips.constant;
    });
  const bool isLongSum = isSum(op) && total >= kBlockedSumLength;
  if (!tile_.stageSteps.empty()) {
    nest.stageLevel = outer.size();
    levels.insert(levels.begin(), outer.begin(), outer.end());
  } else if (isLongSum && levels.size() == 1 && levels[0].trips.isConstant()) {
    const int64_t trips = levels[0].trips.constant, inner = largestDivisor(trips, kMaxBlock);
    if (inner > 1 && inner < trips)
      levels = {
          {levels[0].dim, IndexExpr(trips / inner), levels[0].multiplier * inner, levels[0].rest},
          {levels[0].dim, IndexExpr(inner), levels[0].multiplier}};
  }
  nest.isBlocked = isLongSum && levels.size() > 1 && nest.stageLevel != 0;
  return nest;
}

/// Emits the loops from position `level` on. offsets: the coordinates of the enclosing loops;
/// stage: the number of the current stage.
void Reductions::emitLevel(const Nest &nest, size_t level, const LoopIndex &offsets,
                           const IndexExpr &stage, Values &accumulators) {
  if (level == nest.stageLevel)
    stageOperands(nest, offsets, stage);
  if (level == nest.levels.size())
    return emitStep(nest, offsets, accumulators);
  const Level &current = nest.levels[level];
  if (current.trips.isConstant() && current.trips.constant == 0)
    return; // An empty reduction returns its initial values.
  loops_.forTrips(
      current.trips, accumulators,
      [&](const IndexExpr &counter, Values &carried) {
        const bool isStageLoop = nest.stageLevel != kNotStaged && level < nest.stageLevel;
        const IndexExpr inStage =
            isStageLoop ? space_.add(space_.scale(stage, current.trips.constant), counter) : stage;
        LoopIndex inner = offsets;
        inner[current.dim] =
            space_.add(inner[current.dim], space_.scale(counter, current.multiplier));
        if (nest.isBlocked && level == 0)
          emitBlock(nest, inner, inStage, carried);
        else
          emitLevel(nest, level + 1, inner, inStage, carried);
      },
      current.multiplier);
  if (current.rest > 0)
    emitRest(nest, level, offsets, stage, accumulators);
}

/// Emits the steps after the last round of the loop at position `level`.
void Reductions::emitRest(const Nest &nest, size_t level, const LoopIndex &offsets,
                          const IndexExpr &stage, Values &accumulators) {
  const Level &ended = nest.levels[level];
  Nest rest = nest;
  rest.levels.clear(); // Refilled with those up to `level`, and inner ones over other dims.
  for (auto [i, each] : llvm::enumerate(nest.levels))
    if (i <= level || each.dim != ended.dim)
      rest.levels.push_back(each);
  llvm::SmallVector<unsigned> reductionDims;
  linalg::GenericOp(nest.op).getReductionDims(reductionDims);
  rest.unrolls[llvm::find(reductionDims, ended.dim) - reductionDims.begin()] = ended.rest;
  LoopIndex inner = offsets;
  inner[ended.dim] =
      space_.add(inner[ended.dim], IndexExpr(ended.trips.constant * ended.multiplier));
  emitLevel(rest, level + 1, inner, stage, accumulators);
}

/// Emits one round of the outermost loop of a blocked sum: sums a block and adds it to `sums`.
void Reductions::emitBlock(const Nest &nest, const LoopIndex &offsets, const IndexExpr &stage,
                           Values &sums) {
  Value zero = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    const Type type = sums.front().getType();
    return builder.create<arith::ConstantOp>(loc, type, builder.getZeroAttr(type));
  });
  Values block(nest.points.size(), zero);
  emitLevel(nest, 1, offsets, stage, block);
  sink_.count(Cost::kArithmetic, static_cast<double>(nest.points.size()));
  for (auto [sum, part] : llvm::zip(sums, block))
    sum = sink_.create<arith::AddFOp>(sum, part);
}

/// Stages the operands for the steps of the loops from nest.stageLevel on.
void Reductions::stageOperands(const Nest &nest, const LoopIndex &offsets, const IndexExpr &stage) {
  Stage staged{offsets, {}, stage};
  llvm::SmallVector<unsigned> reductionDims;
  linalg::GenericOp(nest.op).getReductionDims(reductionDims);
  const auto extents = shapes_.loopExtents(nest.op);
  for (auto [q, dim] : llvm::enumerate(reductionDims)) {
    int64_t span = unrollOf(q, extents[dim]);
    for (const Level &level : llvm::ArrayRef(nest.levels).drop_front(nest.stageLevel))
      if (level.dim == dim)
        span = std::max(span, level.trips.constant * level.multiplier);
    staged.spans.push_back(span);
  }
  parts_.staging.stage(nest.op, staged, nest.points, nest.grid);
}

/// Emits the unrolled steps of one round of the innermost loop.
void Reductions::emitStep(const Nest &nest, const LoopIndex &offsets, Values &accumulators) {
  linalg::GenericOp op = nest.op;
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, reductionDims.size()));
  const auto factors = tile_.dots ? byteFactorsOf(op) : std::nullopt;
  if (factors) { // The four steps of a dot product must be consecutive.
    const unsigned innermost = *dotDimensionOf(reductionExtentsOf(op));
    order.erase(order.begin() + innermost);
    order.push_back(innermost);
  }
  std::vector<LoopIndex> steps{offsets};
  for (unsigned q : order) {
    const unsigned dim = reductionDims[q];
    std::vector<LoopIndex> next;
    for (const LoopIndex &step : steps) {
      for (int64_t u = 0; u < nest.unrolls[q]; ++u) {
        next.push_back(step);
        next.back()[dim] = space_.add(step[dim], IndexExpr(u));
      }
    }
    steps = std::move(next);
  }
  if (factors)
    parts_.dots.accumulate(op, *factors, steps, nest.points, nest.grid, accumulators);
  else
    parts_.accumulation.accumulate(op, steps, nest.points, nest.grid, accumulators);
}

} // namespace gantry::codegen

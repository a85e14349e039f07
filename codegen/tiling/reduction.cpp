// Reductions of the kernel evaluator: a loop nest with one accumulator per point.
#include "codegen/tiling/attention.h"
#include "codegen/tiling/kernel_evaluator.h"
#include "codegen/tiling/structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/ScopeExit.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Long sums are taken in blocks: each block from zero, then added. The rounding error then grows
/// with blocks + block length instead of with their product (Higham, "The accuracy of floating
/// point summation", 1993).
constexpr int64_t kBlockedSumLength = 1024;
constexpr int64_t kBlock = 128;

constexpr int64_t kGroupRows = 4, kGroupColumns = 2;

bool isSum(linalg::GenericOp op) {
  auto yield = cast<linalg::YieldOp>(op.getRegion().front().getTerminator());
  auto add = yield.getOperand(0).getDefiningOp<arith::AddFOp>();
  Value accumulator = op.getRegionOutputArgs().front();
  return add && accumulator.hasOneUse() &&
         (add.getLhs() == accumulator || add.getRhs() == accumulator);
}

int64_t divisorUpTo(int64_t value, int64_t limit) {
  for (int64_t d = std::min(value, limit); d > 1; --d)
    if (value % d == 0)
      return d;
  return 1;
}

} // namespace

Values KernelEvaluator::evaluateReduction(linalg::GenericOp op, llvm::ArrayRef<Point> points) {
  auto &cache = reduced_[op];
  auto keyOf = [](const Point &point) {
    std::vector<IndexExpr> key(point.index.begin(), point.index.end());
    return key;
  };
  Values result;
  for (const Point &point : points)
    if (auto found = cache.find(keyOf(point)); found != cache.end())
      result.push_back(found->second);
  if (result.size() == points.size())
    return result;
  if (op.getNumDpsInits() != 1) {
    fail(op);
    return Values(points.size());
  }
  auto keep = [&](Values values) {
    for (auto [point, value] : llvm::zip(points, values))
      cache[keyOf(point)] = value;
    return values;
  };
  if (tile_.matrix)
    return keep(evaluateProduct(op, points));
  if (tile_.keys > 0)
    if (const auto attention = attentionOf(op))
      return keep(evaluateAttention(*attention, points));

  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  auto extents = loopExtents(op);
  llvm::SmallVector<LoopLevel> levels, outer; // outer: from one stage to the next
  int64_t total = 1;
  for (auto [q, dim] : llvm::enumerate(reductionDims)) {
    int64_t unroll = q < tile_.reduction.size() ? tile_.reduction[q] : 1;
    if (!extents[dim].isConstant()) {
      levels.push_back({dim, extents[dim], 1});
      total = kBlockedSumLength; // unknown: assume the worst
      continue;
    }
    total *= extents[dim].constant;
    if (extents[dim].constant == 0) {
      levels.push_back({dim, IndexExpr(0), 1}); // nothing is added
      continue;
    }
    int64_t staged = q < tile_.stageSteps.size() ? tile_.stageSteps[q] : extents[dim].constant;
    if (int64_t trips = staged / unroll; trips != 1)
      levels.push_back({dim, IndexExpr(trips), unroll});
    if (int64_t trips = extents[dim].constant / staged; trips != 1)
      outer.push_back({dim, IndexExpr(trips), staged});
  }
  // Long loops inside: what only depends on short ones (windows, and whether they lie within the
  // padding) is computed outside of them.
  if (llvm::all_of(levels, [](const LoopLevel &level) { return level.trips.isConstant(); }))
    std::stable_sort(levels.begin(), levels.end(), [](const LoopLevel &a, const LoopLevel &b) {
      return a.trips.constant < b.trips.constant;
    });
  if (!tile_.stageSteps.empty()) {
    stageLevel_ = outer.size();
    levels.insert(levels.begin(), outer.begin(), outer.end());
  }
  bool blocked = isSum(op) && total >= kBlockedSumLength;
  if (blocked && levels.size() == 1 && tile_.stageSteps.empty() && levels[0].trips.isConstant()) {
    int64_t trips = levels[0].trips.constant, inner = divisorUpTo(trips, kBlock);
    if (inner > 1 && inner < trips)
      levels = {{levels[0].dim, IndexExpr(trips / inner), levels[0].multiplier * inner},
                {levels[0].dim, IndexExpr(inner), levels[0].multiplier}};
  }
  blocked = blocked && levels.size() > 1 && stageLevel_ != 0;

  Values init = evaluate(op.getDpsInits().front(), points);
  Values accumulators = init;
  if (tile_.buffers > 1 && !poolWords_.empty())
    barrier(); // what other operations have in the pool has been read
  llvm::SmallVector<IndexExpr, 6> offsets(op.getNumLoops(), IndexExpr(0));
  emitLoops(op, levels, 0, offsets, points, accumulators, init, blocked);
  return keep(std::move(accumulators));
}

void KernelEvaluator::emitLoops(linalg::GenericOp op, llvm::ArrayRef<LoopLevel> levels,
                                size_t level, llvm::SmallVector<IndexExpr, 6> offsets,
                                llvm::ArrayRef<Point> points, Values &accumulators,
                                llvm::ArrayRef<Value> init, bool blocked) {
  if (level == stageLevel_) {
    stageLevel_ = ~size_t(0);
    stageOperands(op, offsets, points, levels.drop_front(level));
    emitLoops(op, levels, level, offsets, points, accumulators, init, blocked);
    stageLevel_ = level;
    return;
  }
  if (level == levels.size()) {
    emitReductionStep(op, offsets, points, accumulators);
    return;
  }
  const LoopLevel &current = levels[level];
  if (current.trips.isConstant() && current.trips.constant == 0)
    return; // an empty reduction leaves the initial values
  forTrips(current.trips, accumulators, [&](const IndexExpr &variable, Values &carried) {
    const IndexExpr stage = stage_;
    auto restore = llvm::make_scope_exit([&] { stage_ = stage; });
    if (stageLevel_ != ~size_t(0))
      stage_ = space_.add(space_.scale(stage, current.trips.constant), variable);
    auto inner = offsets;
    inner[current.dim] = space_.add(inner[current.dim], space_.scale(variable, current.multiplier));
    if (!blocked || level != 0) {
      emitLoops(op, levels, level + 1, inner, points, carried, init, blocked);
      return;
    }
    Value zero;
    if (builder_ && !init.empty())
      zero = builder_->create<arith::ConstantOp>(loc(), init[0].getType(),
                                                 builder_->getZeroAttr(init[0].getType()));
    Values block(points.size(), zero);
    emitLoops(op, levels, level + 1, inner, points, block, init, blocked);
    counts_.arithmetic += weight_ * points.size();
    if (builder_)
      for (auto [sum, part] : llvm::zip(carried, block))
        sum = builder_->create<arith::AddFOp>(loc(), sum, part);
  });
}

void KernelEvaluator::forTrips(const IndexExpr &trips, Values &carried,
                               llvm::function_ref<void(const IndexExpr &, Values &)> body) {
  const int64_t last = trips.isConstant() ? trips.constant - 1 : IndexSpace::kUnbounded;
  const double outer = weight_, outerRounds = rounds_;
  weight_ *= trips.isConstant() ? trips.constant : 64;
  countRounds(trips);
  counts_.loopSteps += weight_ * carried.size();
  space_.setWeight(weight_);
  if (!builder_) {
    body(space_.addVariable(Value(), 0, last), carried);
  } else {
    auto constant = [&](int64_t value) -> Value {
      return builder_->create<arith::ConstantIndexOp>(loc(), value);
    };
    Value zero = constant(0), one = constant(1);
    Value bound = valueOf(trips);
    auto loop = builder_->create<scf::ForOp>(loc(), zero, bound, one, carried);
    OpBuilder::InsertionGuard restore(*builder_);
    builder_->setInsertionPointToStart(loop.getBody());
    Values inside(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    body(space_.addVariable(loop.getInductionVar(), 0, last), inside);
    builder_->create<scf::YieldOp>(loc(), inside);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  weight_ = outer;
  rounds_ = outerRounds;
  space_.setWeight(weight_);
}

void KernelEvaluator::emitReductionStep(linalg::GenericOp op, llvm::ArrayRef<IndexExpr> offsets,
                                        llvm::ArrayRef<Point> points, Values &accumulators) {
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  std::vector<llvm::SmallVector<IndexExpr, 6>> steps{
      llvm::SmallVector<IndexExpr, 6>(offsets.begin(), offsets.end())};
  auto extents = loopExtents(op);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, reductionDims.size()));
  const auto factors = tile_.dots ? byteFactorsOf(op) : std::nullopt;
  if (factors) { // fours of steps come one after the other
    const unsigned four = *dotDimensionOf(reductionExtentsOf(op));
    order.erase(order.begin() + four);
    order.push_back(four);
  }
  for (unsigned q : order) {
    const unsigned dim = reductionDims[q];
    int64_t unroll = q < tile_.reduction.size() ? tile_.reduction[q] : 1;
    if (!extents[dim].isConstant())
      unroll = 1;
    std::vector<llvm::SmallVector<IndexExpr, 6>> next;
    for (const auto &step : steps) {
      for (int64_t u = 0; u < unroll; ++u) {
        next.push_back(step);
        next.back()[dim] = space_.add(step[dim], IndexExpr(u));
      }
    }
    steps = std::move(next);
  }
  if (factors)
    accumulateDots(op, *factors, steps, points, accumulators);
  else
    accumulate(op, steps, points, accumulators);
}

/// Takes the reduction through such steps: coordinates of all loops, of which those of the
/// reduction count. `known`: an operand whose elements are given, those of all points for each
/// step.
void KernelEvaluator::accumulate(linalg::GenericOp op,
                                 llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> steps,
                                 llvm::ArrayRef<Point> points, Values &accumulators,
                                 OpOperand *known, llvm::ArrayRef<Value> elements) {
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  // Operands of all steps and points at once, so that what they share is loaded once.
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  std::vector<llvm::SmallVector<IndexExpr, 6>> loops;
  llvm::SmallVector<int32_t> guards;
  for (const auto &step : steps) {
    for (const Point &point : points) {
      auto coordinates = loopCoordinates(op, outputMap, point);
      for (unsigned dim : reductionDims)
        coordinates[dim] = step[dim];
      loops.push_back(std::move(coordinates));
      guards.push_back(point.guard);
    }
  }
  llvm::SmallVector<Values> inputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (operand == known) {
      inputs.emplace_back(elements);
      continue;
    }
    if (op.getMatchingBlockArgument(operand).use_empty()) {
      inputs.push_back(Values(loops.size()));
      continue;
    }
    if (!isa<RankedTensorType>(operand->get().getType())) {
      inputs.push_back(Values(loops.size(), scalarOutside(operand->get())));
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(operand);
    std::vector<Point> inner;
    for (size_t i = 0; i < loops.size(); ++i) {
      Point source;
      source.guard = guards[i];
      for (AffineExpr expr : map.getResults())
        source.index.push_back(space_.evaluate(expr, loops[i], {}));
      inner.push_back(std::move(source));
    }
    inputs.push_back(staged_.count(operand) ? readStaged(operand, inner)
                                            : evaluate(operand->get(), inner));
  }

  // A few points take all steps before the next ones begin, so that their accumulators stay in
  // registers.
  const size_t count = points.size();
  for (const auto &group : accumulationGroups(count)) {
    for (size_t step = 0; step < steps.size(); ++step) {
      llvm::SmallVector<Values> arguments(inputs.size() + 1);
      std::vector<llvm::SmallVector<IndexExpr, 6>> at;
      llvm::SmallVector<int32_t> under;
      for (unsigned point : group) {
        for (auto [list, values] : llvm::zip(arguments, inputs))
          list.push_back(values[step * count + point]);
        arguments.back().push_back(accumulators[point]);
        at.push_back(loops[step * count + point]);
        under.push_back(guards[step * count + point]);
      }
      Values next = cloneBody(op, at, under, arguments)[0];
      for (auto [point, value] : llvm::zip(group, next))
        accumulators[point] = value;
    }
  }
  sinkShuffles();
}

/// The points of a tile in groups of a few accumulators: four along its longest dimension that the
/// lanes do not share, by two of the others.
std::vector<llvm::SmallVector<unsigned>> KernelEvaluator::accumulationGroups(size_t count) const {
  std::vector<llvm::SmallVector<unsigned>> groups;
  int64_t product = 1, inner = 1;
  const llvm::ArrayRef<int64_t> tile = scoresTile_.empty() ? tile_.result : scoresTile_;
  const size_t laneDim = scoresTile_.empty() ? tile_.laneDim : 1;
  size_t block = tile.size();
  for (size_t d = 0; d < tile.size(); ++d) {
    product *= tile[d];
    const bool byLanes = tile_.lanes > 1 && d == laneDim;
    if (!byLanes && (block == tile.size() || tile[d] > tile[block]))
      block = d;
  }
  if (product != static_cast<int64_t>(count) || block == tile.size()) {
    for (unsigned i = 0; i < count; ++i)
      groups.push_back({i});
    return groups;
  }
  for (size_t d = block + 1; d < tile.size(); ++d)
    inner *= tile[d];
  const int64_t extent = tile[block], others = product / extent;
  for (int64_t i = 0; i < extent; i += kGroupRows)
    for (int64_t n = 0; n < others; n += kGroupColumns) {
      auto &group = groups.emplace_back();
      for (int64_t m = n; m < std::min(n + kGroupColumns, others); ++m)
        for (int64_t j = i; j < std::min(i + kGroupRows, extent); ++j)
          group.push_back(static_cast<unsigned>((m / inner * extent + j) * inner + m % inner));
    }
  return groups;
}

/// Moves shuffles to their first use: what is passed on need not wait in registers.
void KernelEvaluator::sinkShuffles() {
  for (Operation *shuffle : shuffles_) {
    Operation *first = nullptr;
    for (Operation *user : shuffle->getUsers())
      if (user->getBlock() == shuffle->getBlock() && (!first || user->isBeforeInBlock(first)))
        first = user;
    if (first)
      shuffle->moveBefore(first);
  }
  shuffles_.clear();
}

} // namespace gantry::codegen

// Implements body_evaluator.h.
#include "codegen/tiling/emitter/body_evaluator.h"

#include "codegen/tiling/emitter/distinct_items.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/sink/operation_cost.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::codegen {

using namespace mlir;

/// One evaluation of a body.
struct BodyEvaluator::Evaluation {
  /// maxScalars, maxIndices: the numbers of entries that the maps need at most. The maps do not
  /// grow, because one that runs out of memory while it grows cannot be destroyed.
  Evaluation(Block &body, const BodyPoints &points, unsigned maxScalars, unsigned maxIndices)
      : body(body), points(points), scalars(bucketsFor(maxScalars)),
        indices(bucketsFor(maxIndices)) {}

  size_t count() const { return points.loops.size(); }

  Block &body;
  const BodyPoints &points;
  // By value of the body, then by point.
  llvm::SmallDenseMap<Value, Values, 16> scalars;
  llvm::SmallDenseMap<Value, std::vector<IndexExpr>, 4> indices;

private:
  /// A map grows when three quarters of its buckets are used.
  static unsigned bucketsFor(unsigned entries) { return entries * 4 / 3 + 1; }
};

/// Returns whether an operation only widens an element, which a texel load has done already.
static bool isDoneByTexelLoad(Operation &op) {
  return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) &&
         isa<BlockArgument>(op.getOperand(0));
}

Value BodyEvaluator::scalarAt(Evaluation &run, Value value, size_t point) {
  if (auto known = run.indices.find(value); known != run.indices.end())
    return sink_.index(known->second[point]);
  if (auto found = run.scalars.find(value); found != run.scalars.end())
    return found->second[point];
  return evaluator_.scalar(value);
}

IndexExpr BodyEvaluator::indexAt(Evaluation &run, Value value, size_t point) {
  if (auto known = run.indices.find(value); known != run.indices.end())
    return known->second[point];
  if (value.getParentBlock() != &run.body)
    return shapes_.indexOf(value);
  Value symbol = sink_.symbolOf(value, run.scalars[value][point]);
  if (auto found = variables_.find(symbol); found != variables_.end())
    return found->second;
  IndexExpr variable = space_.addVariable(symbol, -IndexSpace::kUnbounded, IndexSpace::kUnbounded);
  variables_[symbol] = variable;
  return variable;
}

/// Evaluates index arithmetic symbolically. Returns false for any other operation.
bool BodyEvaluator::evaluateIndex(Evaluation &run, Operation &op) {
  std::vector<IndexExpr> list;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    for (const LoopIndex &loops : run.points.loops)
      list.push_back(loops[index.getDim()]);
  } else if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    list.assign(run.count(), IndexExpr(constant.value()));
  } else if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
             op.getResult(0).getType().isIndex()) {
    for (size_t i = 0; i < run.count(); ++i) {
      IndexExpr lhs = indexAt(run, op.getOperand(0), i), rhs = indexAt(run, op.getOperand(1), i);
      list.push_back(isa<arith::AddIOp>(op)   ? space_.add(lhs, rhs)
                     : isa<arith::SubIOp>(op) ? space_.sub(lhs, rhs)
                                              : space_.mul(lhs, rhs));
    }
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    for (size_t i = 0; i < run.count(); ++i) {
      IndexList operands;
      for (Value operand : apply.getMapOperands())
        operands.push_back(indexAt(run, operand, i));
      llvm::ArrayRef<IndexExpr> all(operands);
      list.push_back(space_.evaluate(map.getResult(0), all.take_front(map.getNumDims()),
                                     all.drop_front(map.getNumDims())));
    }
  } else {
    return false;
  }
  run.indices[op.getResult(0)] = std::move(list);
  return true;
}

void BodyEvaluator::evaluateExtract(Evaluation &run, Operation &op) {
  auto extract = cast<tensor::ExtractOp>(op);
  std::vector<Point> points;
  for (size_t i = 0; i < run.count(); ++i) {
    Point point;
    point.guard = run.points.guards[i];
    for (Value index : extract.getIndices())
      point.index.push_back(indexAt(run, index, i));
    points.push_back(std::move(point));
  }
  run.scalars[extract.getResult()] =
      evaluator_.evaluate(extract.getTensor(), points, run.points.grid);
}

void BodyEvaluator::cloneScalar(Evaluation &run, Operation &op) {
  llvm::SmallVector<Values, 1> results(op.getNumResults(), Values(run.count()));
  for (size_t i = 0; i < run.count(); ++i) {
    const Values clones = sink_.clone(op, [&](Value operand) { return scalarAt(run, operand, i); });
    for (auto [result, clone] : llvm::zip(results, clones))
      result[i] = clone;
  }
  for (auto [value, result] : llvm::zip(op.getResults(), results))
    run.scalars[value] = std::move(result);
}

llvm::SmallVector<Values> BodyEvaluator::evaluate(linalg::GenericOp op, const BodyPoints &points) {
  Block &body = op.getRegion().front();
  unsigned values = body.getNumArguments(), indices = 0;
  for (Operation &inner : body.without_terminator())
    for (Type type : inner.getResultTypes()) {
      ++values;
      indices += type.isIndex();
    }
  Evaluation run(body, points, values, indices);
  for (auto [argument, values] : llvm::zip(body.getArguments(), points.arguments))
    run.scalars[argument] = values;
  for (Operation &inner : body.without_terminator()) {
    if (!readsTexels_ || !isDoneByTexelLoad(inner))
      sink_.count(Cost::kArithmetic, static_cast<double>(run.count()) * costOf(inner));
    if (evaluateIndex(run, inner))
      continue;
    if (isa<tensor::ExtractOp>(inner)) {
      evaluateExtract(run, inner);
    } else if (inner.getNumRegions() == 0) {
      cloneScalar(run, inner);
    } else {
      sink_.fail(&inner);
      return llvm::SmallVector<Values>(op.getNumResults(), Values(run.count()));
    }
  }
  llvm::SmallVector<Values> yielded;
  for (Value value : body.getTerminator()->getOperands()) {
    Values values;
    for (size_t i = 0; i < run.count(); ++i)
      values.push_back(scalarAt(run, value, i));
    yielded.push_back(std::move(values));
  }
  return yielded;
}

/// Finds the positions of the loops at which an operand with this indexing map is read at different
/// points: those that differ in the guard or in the coordinate of a loop that the map uses.
static DistinctItems distinctReads(AffineMap map, llvm::ArrayRef<LoopIndex> loops,
                                   llvm::ArrayRef<int32_t> guards) {
  llvm::SmallVector<unsigned> used;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    if (map.isFunctionOfDim(dim))
      used.push_back(dim);
  return distinctItems(
      loops.size(),
      [&](size_t i) {
        IndexHash hash(guards[i]);
        for (unsigned dim : used)
          hash.add(loops[i][dim]);
        return hash.value();
      },
      [&](size_t i, size_t j) {
        return guards[i] == guards[j] &&
               llvm::all_of(used, [&](unsigned dim) { return loops[i][dim] == loops[j][dim]; });
      });
}

Values BodyEvaluator::elementsOf(linalg::GenericOp op, OpOperand &operand,
                                 llvm::ArrayRef<LoopIndex> loops, llvm::ArrayRef<int32_t> guards,
                                 const PointGrid &grid) {
  if (op.getMatchingBlockArgument(&operand).use_empty())
    return Values(loops.size());
  if (!isa<RankedTensorType>(operand.get().getType()))
    return Values(loops.size(), evaluator_.scalar(operand.get()));
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  const DistinctItems distinct = distinctReads(map, loops, guards);
  std::vector<Point> points;
  points.reserve(distinct.first.size());
  for (unsigned i : distinct.first) {
    points.push_back(shapes_.operandPoint(map, loops[i], guards[i]));
    points.back().guard = guards_.ofOperand(guards[i], points.back().index);
  }
  return distinct.spread(evaluator_.evaluate(operand.get(), points, grid));
}

} // namespace gantry::codegen

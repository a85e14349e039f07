// Implements tensor_evaluator.h.
#include "codegen/tiling/emitter/tensor_evaluator.h"

#include "codegen/tiling/emitter/body_evaluator.h"
#include "codegen/tiling/emitter/distinct_items.h"
#include "codegen/tiling/emitter/reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

using namespace mlir;

// ---- scalars ------------------------------------------------------------------------------------

Value TensorEvaluator::scalar(Value value) {
  return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    if (value.getType().isIndex())
      return sink_.index(shapes_.indexOf(value));
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant)))
      return builder.create<arith::ConstantOp>(loc, value.getType(), cast<TypedAttr>(constant));
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() != 0)
      return sink_.fail(shapes_.kernel());
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      if (isa<RankedTensorType>(operand.getType()))
        return sink_.fail(op);
      mapping.map(operand, scalar(operand));
    }
    return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  });
}

/// Returns the element of a tensor whose elements are all equal, or undefined.
Value TensorEvaluator::splatOf(Operation *op, Type element) {
  auto constant = [&](Attribute value) {
    return sink_.create<arith::ConstantOp>(element, cast<TypedAttr>(value));
  };
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return scalar(fill.getInputs().front());
  if (isa<tensor::EmptyOp>(op)) // Its elements do not matter.
    return constant(Builder(op->getContext()).getZeroAttr(element));
  if (auto dense = dyn_cast<arith::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(dense.getValue()))
      return constant(splat.getSplatValue<Attribute>());
  return sink_.fail(op);
}

// ---- tensors ------------------------------------------------------------------------------------

namespace {

DistinctItems distinctPoints(llvm::ArrayRef<Point> points) {
  return distinctItems(
      points.size(),
      [&](size_t i) {
        IndexHash hash(points[i].guard);
        for (const IndexExpr &index : points[i].index)
          hash.add(index);
        return hash.value();
      },
      [&](size_t i, size_t j) { return points[i] == points[j]; });
}

} // namespace

/// Calls `evaluate` with each distinct point once. Row kernels keep the values and skip the call if
/// all are known. Points are equal, for example, if an operand does not depend
/// on a tile dimension.
Values TensorEvaluator::onDistinctPoints(const void *key, llvm::ArrayRef<Point> points,
                                         Evaluate evaluate) {
  const DistinctItems distinct = distinctPoints(points);
  if (!keepsElements_ && distinct.first.size() == points.size())
    return evaluate(points);
  std::vector<Point> different;
  different.reserve(distinct.first.size());
  for (unsigned i : distinct.first)
    different.push_back(points[i]);
  Values values;
  if (keepsElements_) {
    const auto guardedKey = [](const Point &point) { return PointKey(point.guard, keyOf(point)); };
    auto &known = kept_[{key, sink_.block()}];
    if (!llvm::all_of(different, [&](const Point &p) { return known.count(guardedKey(p)); }))
      for (auto [point, value] : llvm::zip(different, evaluate(different)))
        known[guardedKey(point)] = value;
    for (const Point &point : different)
      values.push_back(known[guardedKey(point)]);
  } else {
    values = evaluate(different);
  }
  return distinct.spread(values);
}

Values TensorEvaluator::evaluate(Value tensor, llvm::ArrayRef<Point> points,
                                 const PointGrid &grid) {
  return onDistinctPoints(tensor.getAsOpaquePointer(), points, [&](llvm::ArrayRef<Point> distinct) {
    return evaluateDistinct(tensor, distinct, grid);
  });
}

Values TensorEvaluator::evaluateDistinct(Value tensor, llvm::ArrayRef<Point> points,
                                         const PointGrid &grid) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return access_.load(argument, points);
  Operation *op = tensor.getDefiningOp();
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getNumReductionLoops() > 0)
      return reductions_.evaluate(generic, points, grid);
    return evaluateElementwise(generic, cast<OpResult>(tensor).getResultNumber(), points, grid);
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return evaluatePad(pad, points, grid);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return evaluateConcat(concat, points, grid);
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return evaluate(op->getOperand(0), viewedPoints(op, points), grid);
  return Values(points.size(),
                splatOf(op, cast<RankedTensorType>(tensor.getType()).getElementType()));
}

Values TensorEvaluator::evaluateElementwise(linalg::GenericOp op, unsigned resultNumber,
                                            llvm::ArrayRef<Point> points, const PointGrid &grid) {
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs() + resultNumber];
  std::vector<LoopIndex> loops;
  loops.reserve(points.size());
  llvm::SmallVector<int32_t> guards;
  for (const Point &point : points) {
    loops.push_back(shapes_.loopCoordinates(op, outputMap, point));
    guards.push_back(point.guard);
  }
  llvm::SmallVector<Values> arguments;
  for (OpOperand &operand : op->getOpOperands())
    arguments.push_back(bodies_.elementsOf(op, operand, loops, guards, grid));
  return bodies_.evaluate(op, {loops, guards, arguments, grid})[resultNumber];
}

// ---- pads, concatenations, views ----------------------------------------------------------------

TensorEvaluator::PaddedPoints TensorEvaluator::paddedPoints(tensor::PadOp pad,
                                                            llvm::ArrayRef<Point> points) {
  auto low = shapes_.mixedValues(pad.getStaticLow(), pad.getLow());
  auto shape = shapes_.shapeOf(pad.getSource());
  PaddedPoints padded;
  for (const Point &point : points) {
    Point source;
    IndexList conditions;
    for (size_t d = 0; d < shape.size(); ++d) {
      IndexExpr index = space_.sub(point.index[d], low[d]);
      source.index.push_back(index);
      const IndexExpr tested = guards_.testedIndex(index, shape[d]);
      conditions.push_back(tested);
      conditions.push_back(space_.sub(space_.sub(shape[d], IndexExpr(1)), tested));
    }
    bool never = false;
    int32_t own = guards_.with(0, conditions, never);
    source.guard = guards_.with(point.guard, conditions, never);
    padded.inside.push_back(never ? kNeverInside : own);
    padded.position.push_back(padded.inner.size());
    if (!never)
      padded.inner.push_back(std::move(source));
  }
  return padded;
}

/// Returns whether a pad puts floating-point zeros around a tensor argument of the kernel. The
/// loads then return the zeros, which takes one select per vector instead of one per element.
static bool isZeroPadOfArgument(tensor::PadOp pad) {
  Attribute constant;
  Value outside = pad.getConstantPaddingValue();
  auto number = outside && matchPattern(outside, m_Constant(&constant))
                    ? dyn_cast<FloatAttr>(constant)
                    : FloatAttr();
  return isa<BlockArgument>(pad.getSource()) && number && number.getValue().isZero();
}

Values TensorEvaluator::evaluatePad(tensor::PadOp pad, llvm::ArrayRef<Point> points,
                                    const PointGrid &grid) {
  Value outside = pad.getConstantPaddingValue();
  Value padding = outside ? scalar(outside) : sink_.fail(pad);
  const auto [inner, inside, position] = paddedPoints(pad, points);
  const bool byLoads = isZeroPadOfArgument(pad);
  // Elements loaded with zeros outside are cached under the pad, not under its source, because
  // elements of the source that another operation loaded may have any value where their guard does
  // not hold.
  Values values =
      byLoads ? onDistinctPoints(pad.getOperation(), inner,
                                 [&](llvm::ArrayRef<Point> distinct) {
                                   return access_.load(cast<BlockArgument>(pad.getSource()),
                                                       distinct, MemoryAccess::Outside::kZero);
                                 })
              : evaluate(pad.getSource(), inner, grid);
  Values result;
  std::map<int32_t, Value> tests;
  for (size_t i = 0; i < points.size(); ++i) {
    if (inside[i] == kNeverInside) {
      result.push_back(padding);
      continue;
    }
    Value value = values[position[i]];
    if (inside[i] != 0 && !byLoads) {
      auto [test, inserted] = tests.try_emplace(inside[i]);
      if (inserted)
        test->second = guards_.test(inside[i]);
      sink_.count(Cost::kArithmetic);
      value = sink_.create<arith::SelectOp>(test->second, value, padding);
    }
    result.push_back(value);
  }
  return result;
}

Values TensorEvaluator::evaluateConcat(tensor::ConcatOp concat, llvm::ArrayRef<Point> points,
                                       const PointGrid &grid) {
  uint64_t axis = concat.getDim();
  Values result(points.size());
  IndexExpr start(0);
  for (Value input : concat.getInputs()) {
    IndexExpr extent = shapes_.shapeOf(input)[axis];
    std::vector<Point> inner;
    llvm::SmallVector<std::pair<unsigned, int32_t>> targets;
    for (auto [i, point] : llvm::enumerate(points)) {
      Point source = point;
      source.index[axis] = space_.sub(point.index[axis], start);
      IndexExpr conditions[] = {source.index[axis],
                                space_.sub(space_.sub(extent, IndexExpr(1)), source.index[axis])};
      bool never = false;
      int32_t own = guards_.with(0, conditions, never);
      source.guard = guards_.with(point.guard, conditions, never);
      if (never)
        continue;
      inner.push_back(std::move(source));
      targets.push_back({static_cast<unsigned>(i), own});
    }
    Values values = evaluate(input, inner, grid);
    for (auto [value, target] : llvm::zip(values, targets)) {
      auto [i, own] = target;
      sink_.count(Cost::kArithmetic);
      result[i] = result[i] && own != 0
                      ? sink_.create<arith::SelectOp>(guards_.test(own), value, result[i])
                      : value;
    }
    start = space_.add(start, extent);
  }
  // Points beyond all inputs are never stored, so they may have any value.
  const auto *known = llvm::find_if(result, [](Value value) { return bool(value); });
  if (known != result.end())
    std::replace(result.begin(), result.end(), Value(), Value(*known));
  return result;
}

std::vector<Point> TensorEvaluator::viewedPoints(Operation *op, llvm::ArrayRef<Point> points) {
  std::vector<Point> inner;
  auto sourceShape = shapes_.shapeOf(op->getOperand(0));
  IndexList resultShape = shapes_.shapeOf(op->getResult(0));
  for (const Point &point : points) {
    Point moved;
    moved.guard = point.guard;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      auto offsets = shapes_.mixedValues(slice.getStaticOffsets(), slice.getOffsets());
      auto strides = shapes_.mixedValues(slice.getStaticStrides(), slice.getStrides());
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      for (size_t d = 0, next = 0; d < offsets.size(); ++d)
        moved.index.push_back(
            dropped.test(d) ? offsets[d]
                            : space_.add(offsets[d], space_.mul(point.index[next++], strides[d])));
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      for (const auto &group : expand.getReassociationIndices()) {
        IndexExpr linear(0);
        for (int64_t dim : group)
          linear = space_.add(space_.mul(linear, resultShape[dim]), point.index[dim]);
        moved.index.push_back(linear);
      }
    } else {
      auto collapse = cast<tensor::CollapseShapeOp>(op);
      moved.index.resize(sourceShape.size(), IndexExpr(0));
      for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
        IndexExpr rest = point.index[i];
        for (size_t k = group.size(); k-- > 0;) {
          const IndexExpr &extent = sourceShape[group[k]];
          if (k == 0) {
            moved.index[group[k]] = rest;
          } else if (!(extent.isConstant() && extent.constant == 1)) {
            moved.index[group[k]] = space_.mod(rest, extent);
            rest = space_.floorDiv(rest, extent);
          }
        }
      }
    }
    inner.push_back(std::move(moved));
  }
  return inner;
}

} // namespace gantry::codegen

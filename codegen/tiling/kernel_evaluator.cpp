#include "codegen/tiling/kernel_evaluator.h"

#include "codegen/dialect/rounding.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

using namespace mlir;

KernelEvaluator::KernelEvaluator(func::FuncOp kernel, const TileShape &tile, OpBuilder *builder,
                                 llvm::ArrayRef<Buffer> buffers, ValueRange dims)
    : kernel_(kernel), tile_(tile), builder_(builder), buffers_(buffers.begin(), buffers.end()),
      dimValues_(dims.begin(), dims.end()) {
  result_ = kernel.getBody().front().getTerminator()->getOperand(0);
  if (auto layouts = kernel->getAttrOfType<ArrayAttr>("gantry.layouts"))
    for (auto layout : layouts.getAsRange<DenseI64ArrayAttr>())
      layouts_.emplace_back(layout.asArrayRef());
  else
    layouts_.resize(kernel.getNumArguments() + 1); // more than there are tensors
}

Location KernelEvaluator::loc() const { return kernel_->getLoc(); }

Value KernelEvaluator::fail(Operation *op) {
  if (!unsupported_)
    unsupported_ = op;
  return {};
}

// ---- guards ------------------------------------------------------------------------------------

int32_t KernelEvaluator::guardAnd(int32_t guard, llvm::ArrayRef<IndexExpr> conditions,
                                  bool &never) {
  std::vector<IndexExpr> all = guards_[guard];
  for (const IndexExpr &condition : conditions) {
    IndexRange bounds = space_.range(condition);
    if (bounds.low >= 0)
      continue;
    if (bounds.high < 0)
      never = true;
    all.push_back(condition);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  auto [found, inserted] = guardIds_.try_emplace(all, static_cast<int32_t>(guards_.size()));
  if (inserted)
    guards_.push_back(all);
  return found->second;
}

/// What to test whether an index lies within an extent. Neighbours within one aligned group of four
/// lie inside together where the extent is a multiple of four; testing the group's start lets them
/// share one test and one vector load.
IndexExpr KernelEvaluator::groupStart(IndexExpr index, const IndexExpr &extent) const {
  if (extent.isConstant() && extent.constant % 4 == 0 && space_.baseDivisor(index) % 4 == 0 &&
      !index.isConstant())
    index.constant &= ~int64_t(3);
  return index;
}

Value KernelEvaluator::guardValue(int32_t guard) {
  if (counted_.insert(guard).second)
    for (const IndexExpr &condition : guards_[guard])
      counts_.arithmetic += 2 * space_.weight(condition);
  if (!builder_)
    return {};
  Value result;
  Value zero = builder_->create<arith::ConstantIndexOp>(loc(), 0);
  for (const IndexExpr &condition : guards_[guard]) {
    Value holds =
        builder_->create<arith::CmpIOp>(loc(), arith::CmpIPredicate::sge, valueOf(condition), zero);
    result = result ? builder_->create<arith::AndIOp>(loc(), result, holds).getResult() : holds;
  }
  return result;
}

// ---- evaluation --------------------------------------------------------------------------------

Value KernelEvaluator::constantLike(Attribute value, Type type) {
  if (!builder_)
    return {};
  return builder_->create<arith::ConstantOp>(loc(), type, cast<TypedAttr>(value));
}

/// A scalar (float or integer) defined in the kernel's function outside of any body.
Value KernelEvaluator::scalarOutside(Value value) {
  if (!builder_)
    return {};
  if (value.getType().isIndex())
    return valueOf(indexOf(value));
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constantLike(constant, value.getType());
  if (Operation *op = value.getDefiningOp(); op && op->getNumRegions() == 0) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      if (isa<RankedTensorType>(operand.getType()))
        return fail(op);
      mapping.map(operand, scalarOutside(operand));
    }
    return builder_->clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  }
  return fail(kernel_);
}

Values KernelEvaluator::evaluate(Value tensor, llvm::ArrayRef<Point> points) {
  // Points that coincide are evaluated once: operands that do not depend on a tile dimension.
  std::map<std::pair<int32_t, std::vector<IndexExpr>>, unsigned> seen;
  std::vector<Point> unique;
  llvm::SmallVector<unsigned> position;
  auto keyOf = [](const Point &point) {
    return std::make_pair(point.guard,
                          std::vector<IndexExpr>(point.index.begin(), point.index.end()));
  };
  for (const Point &point : points) {
    auto [found, inserted] = seen.try_emplace(keyOf(point), unique.size());
    if (inserted)
      unique.push_back(point);
    position.push_back(found->second);
  }
  Values values, result;
  if (memo_) {
    auto &known = evaluated_[{tensor.getAsOpaquePointer(), builder_->getInsertionBlock()}];
    const bool all = llvm::all_of(unique, [&](const Point &p) { return known.count(keyOf(p)); });
    if (!all)
      for (auto [point, value] : llvm::zip(unique, evaluateUnique(tensor, unique)))
        known[keyOf(point)] = value;
    for (const Point &point : unique)
      values.push_back(known[keyOf(point)]);
  } else {
    values = evaluateUnique(tensor, unique);
  }
  for (unsigned i : position)
    result.push_back(values[i]);
  return result;
}

Values KernelEvaluator::evaluateUnique(Value tensor, llvm::ArrayRef<Point> points) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return load(argument.getArgNumber(), tensor, points);
  Operation *op = tensor.getDefiningOp();
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getNumReductionLoops() > 0)
      return evaluateReduction(generic, points);
    return evaluateGeneric(generic, cast<OpResult>(tensor).getResultNumber(), points);
  }
  if (isa<tensor::PadOp>(op))
    return evaluatePad(op, points);
  if (isa<tensor::ConcatOp>(op))
    return evaluateConcat(op, points);
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return evaluateView(op, points);
  Value scalar;
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    scalar = scalarOutside(fill.getInputs().front());
  } else if (isa<tensor::EmptyOp>(op)) {
    if (builder_)
      scalar = constantLike(builder_->getZeroAttr(type.getElementType()), type.getElementType());
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      fail(op);
    else
      scalar = constantLike(splat.getSplatValue<Attribute>(), type.getElementType());
  } else {
    fail(op);
  }
  return Values(points.size(), scalar);
}

KernelEvaluator::PaddedPoints KernelEvaluator::paddedPoints(Operation *op,
                                                            llvm::ArrayRef<Point> points) {
  auto pad = cast<tensor::PadOp>(op);
  auto low = mixedValues(pad.getStaticLow(), pad.getLow());
  auto shape = shapeOf(pad.getSource());
  PaddedPoints padded;
  for (const Point &point : points) {
    Point source;
    llvm::SmallVector<IndexExpr> conditions;
    for (size_t d = 0; d < shape.size(); ++d) {
      IndexExpr index = space_.sub(point.index[d], low[d]);
      source.index.push_back(index);
      const IndexExpr tested = groupStart(index, shape[d]);
      conditions.push_back(tested);
      conditions.push_back(space_.sub(space_.sub(shape[d], IndexExpr(1)), tested));
    }
    bool never = false;
    int32_t own = guardAnd(0, conditions, never);
    source.guard = guardAnd(point.guard, conditions, never);
    padded.inside.push_back(never ? -1 : own);
    padded.position.push_back(padded.inner.size());
    if (!never)
      padded.inner.push_back(std::move(source));
  }
  return padded;
}

Values KernelEvaluator::evaluatePad(Operation *op, llvm::ArrayRef<Point> points) {
  auto pad = cast<tensor::PadOp>(op);
  Value padding;
  if (builder_) {
    padding = pad.getConstantPaddingValue();
    padding = padding ? scalarOutside(padding) : fail(op);
  }
  const auto [inner, inside, position] = paddedPoints(op, points);
  // Zeros around a tensor in memory: the loads give them, before what they loaded is passed on.
  Attribute constant;
  Value outside = pad.getConstantPaddingValue();
  auto number = outside && matchPattern(outside, m_Constant(&constant))
                    ? dyn_cast<FloatAttr>(constant)
                    : FloatAttr();
  const bool byLoads = isa<BlockArgument>(pad.getSource()) && number &&
                       number.getValue().isZero() &&
                       llvm::all_of(points, [](const Point &p) { return p.guard == 0; });
  zeroOutside_ = byLoads;
  Values values = evaluate(pad.getSource(), inner), result;
  zeroOutside_ = false;
  std::map<int32_t, Value> tests;
  for (size_t i = 0; i < points.size(); ++i) {
    if (inside[i] == -1) {
      result.push_back(padding);
      continue;
    }
    Value value = values[position[i]];
    if (inside[i] != 0 && !byLoads) {
      auto [test, inserted] = tests.try_emplace(inside[i]);
      if (inserted)
        test->second = guardValue(inside[i]);
      counts_.arithmetic += weight_;
      if (builder_)
        value = builder_->create<arith::SelectOp>(loc(), test->second, value, padding);
    }
    result.push_back(value);
  }
  return result;
}

Values KernelEvaluator::evaluateConcat(Operation *op, llvm::ArrayRef<Point> points) {
  auto concat = cast<tensor::ConcatOp>(op);
  uint64_t axis = concat.getDim();
  Values result(points.size());
  IndexExpr start(0);
  for (Value input : concat.getInputs()) {
    IndexExpr extent = shapeOf(input)[axis];
    std::vector<Point> inner;
    llvm::SmallVector<std::pair<unsigned, int32_t>> targets;
    for (auto [i, point] : llvm::enumerate(points)) {
      Point source = point;
      source.index[axis] = space_.sub(point.index[axis], start);
      IndexExpr conditions[] = {source.index[axis],
                                space_.sub(space_.sub(extent, IndexExpr(1)), source.index[axis])};
      bool never = false;
      int32_t own = guardAnd(0, conditions, never);
      source.guard = guardAnd(point.guard, conditions, never);
      if (never)
        continue;
      inner.push_back(std::move(source));
      targets.push_back({static_cast<unsigned>(i), own});
    }
    Values values = evaluate(input, inner);
    for (auto [value, target] : llvm::zip(values, targets)) {
      auto [i, own] = target;
      if (!builder_) {
        counts_.arithmetic += weight_;
        continue;
      }
      result[i] = result[i] && own != 0
                      ? builder_->create<arith::SelectOp>(loc(), guardValue(own), value, result[i])
                      : value;
    }
    start = space_.add(start, extent);
  }
  // Beyond all inputs: never stored, whatever it is.
  const auto *inside = llvm::find_if(result, [](Value value) { return bool(value); });
  if (builder_ && inside != result.end())
    std::replace(result.begin(), result.end(), Value(), *inside);
  return result;
}

Values KernelEvaluator::evaluateView(Operation *op, llvm::ArrayRef<Point> points) {
  return evaluate(op->getOperand(0), viewedPoints(op, points));
}

/// The points of its source that a view shows.
std::vector<Point> KernelEvaluator::viewedPoints(Operation *op, llvm::ArrayRef<Point> points) {
  std::vector<Point> inner;
  Value source = op->getOperand(0);
  auto sourceShape = shapeOf(source);
  llvm::SmallVector<IndexExpr> resultShape = shapeOf(op->getResult(0));
  for (const Point &point : points) {
    Point moved;
    moved.guard = point.guard;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      auto offsets = mixedValues(slice.getStaticOffsets(), slice.getOffsets());
      auto strides = mixedValues(slice.getStaticStrides(), slice.getStrides());
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

llvm::SmallVector<IndexExpr, 6>
KernelEvaluator::loopCoordinates(linalg::GenericOp op, AffineMap outputMap, const Point &point) {
  llvm::SmallVector<IndexExpr, 6> loops(op.getNumLoops(), IndexExpr(0));
  for (auto [i, expr] : llvm::enumerate(outputMap.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = point.index[i];
    else if (!isa<AffineConstantExpr>(expr))
      fail(op);
  }
  return loops;
}

Values KernelEvaluator::evaluateGeneric(linalg::GenericOp op, unsigned resultNumber,
                                        llvm::ArrayRef<Point> points) {
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs() + resultNumber];
  std::vector<llvm::SmallVector<IndexExpr, 6>> loops;
  llvm::SmallVector<int32_t> guards;
  for (const Point &point : points) {
    loops.push_back(loopCoordinates(op, outputMap, point));
    guards.push_back(point.guard);
  }
  llvm::SmallVector<Values> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty()) {
      arguments.push_back(Values(points.size()));
      continue;
    }
    if (!isa<RankedTensorType>(operand.get().getType())) {
      arguments.push_back(Values(points.size(), scalarOutside(operand.get())));
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::vector<Point> inner;
    for (size_t i = 0; i < points.size(); ++i) {
      Point source;
      source.guard = guards[i];
      for (AffineExpr expr : map.getResults())
        source.index.push_back(space_.evaluate(expr, loops[i], {}));
      inner.push_back(std::move(source));
    }
    arguments.push_back(evaluate(operand.get(), inner));
  }
  return cloneBody(op, loops, guards, arguments)[resultNumber];
}

/// What an extension of `narrow` gives, where that was truncated from as many bits within this
/// kernel: 16-bit floats are how tensors are stored, so between two operations in one kernel
/// nothing is rounded; bytes are taken out of words without 8-bit arithmetic. Null: nothing to
/// save.
Value KernelEvaluator::widened(Operation &extension, Value narrow) {
  if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(extension) || !narrow)
    return {};
  Operation *truncation = narrow.getDefiningOp();
  if (!storedFloat(truncation) && !isa_and_nonnull<arith::TruncIOp>(truncation))
    return {};
  if (truncation->getOperand(0).getType() != extension.getResult(0).getType())
    return {};
  Value wide = truncation->getOperand(0);
  if (isa<arith::ExtFOp>(extension))
    return wide;
  const int64_t bits = wide.getType().getIntOrFloatBitWidth();
  const int64_t kept = narrow.getType().getIntOrFloatBitWidth();
  auto constant = [&](int64_t value) -> Value {
    return builder_->create<arith::ConstantIntOp>(loc(), value, static_cast<unsigned>(bits));
  };
  if (isa<arith::ExtUIOp>(extension))
    return builder_->create<arith::AndIOp>(loc(), wide, constant((int64_t(1) << kept) - 1));
  Value high = builder_->create<arith::ShLIOp>(loc(), wide, constant(bits - kept));
  return builder_->create<arith::ShRSIOp>(loc(), high, constant(bits - kept));
}

static double arithmeticWeight(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp, linalg::YieldOp>(op))
    return 0;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp, math::SqrtOp, math::RsqrtOp>(op))
    return 6;
  if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::FmaOp>(
          op))
    return 1;
  if (isa<math::MathDialect>(op.getDialect()))
    return 20;
  return 1;
}

llvm::SmallVector<Values>
KernelEvaluator::cloneBody(linalg::GenericOp op,
                           llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> loops,
                           llvm::ArrayRef<int32_t> guards, llvm::ArrayRef<Values> arguments) {
  Block &body = op.getRegion().front();
  size_t count = loops.size();
  // Sized at once: a DenseMap that finds no memory while it grows cannot be destroyed.
  const auto mostValues =
      static_cast<unsigned>(body.getNumArguments() + body.getOperations().size());
  llvm::DenseMap<Value, Values> scalars(mostValues);
  llvm::DenseMap<Value, std::vector<IndexExpr>> indices(mostValues);
  for (auto [argument, values] : llvm::zip(body.getArguments(), arguments))
    scalars[argument] = values;

  auto scalarAt = [&](Value value, size_t i) -> Value {
    if (auto known = indices.find(value); known != indices.end())
      return builder_ ? valueOf(known->second[i]) : Value();
    if (auto found = scalars.find(value); found != scalars.end())
      return found->second[i];
    return scalarOutside(value);
  };
  // The index of a value in the body as an expression: known arithmetic stays symbolic, anything
  // else is a variable of its own.
  auto indexAt = [&](Value value, size_t i) -> IndexExpr {
    if (auto known = indices.find(value); known != indices.end())
      return known->second[i];
    if (value.getParentBlock() != &body)
      return indexOf(value);
    Value scalar = builder_ ? scalars[value][i] : value;
    auto [found, inserted] = indexValues_.try_emplace(scalar, IndexExpr());
    if (inserted) {
      IndexExpr variable =
          space_.addVariable(scalar, -IndexSpace::kUnbounded, IndexSpace::kUnbounded);
      indexValues_[scalar] = variable;
      return variable;
    }
    return found->second;
  };

  for (Operation &inner : body.without_terminator()) {
    counts_.arithmetic += weight_ * count * arithmeticWeight(inner);
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      auto &list = indices[index.getResult()];
      for (size_t i = 0; i < count; ++i)
        list.push_back(loops[i][index.getDim()]);
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantIndexOp>(inner)) {
      indices[constant.getResult()].assign(count, IndexExpr(constant.value()));
      continue;
    }
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(inner) &&
        inner.getResult(0).getType().isIndex()) {
      std::vector<IndexExpr> list;
      for (size_t i = 0; i < count; ++i) {
        IndexExpr lhs = indexAt(inner.getOperand(0), i), rhs = indexAt(inner.getOperand(1), i);
        list.push_back(isa<arith::AddIOp>(inner)   ? space_.add(lhs, rhs)
                       : isa<arith::SubIOp>(inner) ? space_.sub(lhs, rhs)
                                                   : space_.mul(lhs, rhs));
      }
      indices[inner.getResult(0)] = std::move(list);
      continue;
    }
    if (auto apply = dyn_cast<affine::AffineApplyOp>(inner)) {
      AffineMap map = apply.getAffineMap();
      std::vector<IndexExpr> list;
      for (size_t i = 0; i < count; ++i) {
        llvm::SmallVector<IndexExpr> operands;
        for (Value operand : apply.getMapOperands())
          operands.push_back(indexAt(operand, i));
        llvm::ArrayRef<IndexExpr> all(operands);
        list.push_back(space_.evaluate(map.getResult(0), all.take_front(map.getNumDims()),
                                       all.drop_front(map.getNumDims())));
      }
      indices[apply.getResult()] = std::move(list);
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      std::vector<Point> points;
      for (size_t i = 0; i < count; ++i) {
        Point point;
        point.guard = guards[i];
        for (Value index : extract.getIndices())
          point.index.push_back(indexAt(index, i));
        points.push_back(std::move(point));
      }
      scalars[extract.getResult()] = evaluate(extract.getTensor(), points);
      continue;
    }
    if (inner.getNumRegions() != 0) {
      fail(&inner);
      continue;
    }
    for (Value result : inner.getResults())
      scalars[result].assign(count, Value());
    if (!builder_)
      continue;
    for (size_t i = 0; i < count; ++i) {
      IRMapping mapping;
      std::vector<const void *> operands;
      for (Value operand : inner.getOperands()) {
        Value value = scalarAt(operand, i);
        if (!value) {
          fail(&inner);
          return llvm::SmallVector<Values>(op.getNumResults(), Values(count));
        }
        mapping.map(operand, value);
        operands.push_back(value.getAsOpaquePointer());
      }
      // Keyed by the op itself: its name, attributes and types are the same for every point.
      CloneKey key{{&inner, builder_->getInsertionBlock()}, std::move(operands)};
      auto [found, inserted] = clones_.try_emplace(std::move(key));
      if (inserted) {
        Value wide;
        if (inner.getNumOperands() == 1)
          wide = widened(inner, mapping.lookup(inner.getOperand(0)));
        if (wide)
          found->second.push_back(wide);
        else
          for (Value result : builder_->clone(inner, mapping)->getResults())
            found->second.push_back(result);
      }
      for (auto [result, clone] : llvm::zip(inner.getResults(), found->second))
        scalars[result][i] = clone;
    }
  }
  llvm::SmallVector<Values> yielded;
  for (Value value : body.getTerminator()->getOperands()) {
    Values values;
    for (size_t i = 0; i < count; ++i)
      values.push_back(scalarAt(value, i));
    yielded.push_back(std::move(values));
  }
  return yielded;
}

} // namespace gantry::codegen

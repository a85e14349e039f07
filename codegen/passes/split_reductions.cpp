// Implements the pass split-reductions (Passes.td), which divides a reduction with many steps, or
// with too few results to keep a GPU busy, into two reductions. A step is an iteration of the
// reduction loops; one invocation executes all steps of a result element.
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <deque>

namespace gantry::codegen {

#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

// A reduction with more steps is split, because some drivers stop loops after 65,535 rounds. In
// total, the nested loops of a reduction run fewer than twice as many rounds as there are steps.
constexpr int64_t kMaxSteps = 32768;
constexpr int64_t kMaxPartSteps = 4096;   // Limit on the steps of each part of a split reduction.
constexpr int64_t kMaxRowSteps = 1 << 18; // A subgroup shares a row of at most this many elements.
// A sum of products whose result is small is divided into parts, which different invocations
// compute. Each part keeps at least kMinSharedSteps steps, and there are at most kMaxSharedParts
// parts.
constexpr int64_t kMinSharedSteps = 128, kMaxSharedParts = 32;
// The number of parts of such a sum is limited: if `invocations` invocations (Passes.td) share the
// first reduction, each computes at most this many elements of its result, one element for one part
// of one sum. Measured on an H200 for 4, 8, 16 and 32 with convolutional networks at batch 1:
// ResNet-50 takes 2.88, 2.44, 2.33 and 2.28 ms, and 2.80 ms undivided; over all networks, 16 is
// fastest.
constexpr int64_t kPointsPerInvocation = 16;

/// How a reduction becomes two. If `part` is 0, the whole loop `dim` becomes a parallel loop of the
/// first reduction and the reduction loop of the second. Otherwise the loop `dim` is divided into
/// `parts` parts of `part` steps: the first reduction reduces each part, the second combines the
/// results of the parts.
struct Split {
  unsigned dim = 0;
  int64_t part = 0, parts = 0;
  bool padded = false; // The extent is not part * parts; the last part is padded.
  // Whether the loop over the parts is the first dimension of the first reduction's result instead
  // of the last. The last dimension, along which an invocation computes neighbours, then stays the
  // same.
  bool leading = false;
};

/// Returns whether every index of an operand that depends on the loop `dim` is the loop's counter
/// itself, and not, for example, the sum of two counters, as in a window.
bool isPlain(linalg::GenericOp op, unsigned dim) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      return isa<AffineDimExpr>(expr) || !expr.isFunctionOfDim(dim);
    });
  });
}

/// Returns whether the reduction is part of a softmax or a normalization: it reduces the last
/// dimension of its only operand, and an operator that depends on its result reads the same
/// operand. Such operators become one kernel in which a subgroup shares a row, so one invocation
/// executes only a part of the steps, and the reduction need not be split. ranges: the extents of
/// the loops. dim: a reduction loop.
bool isOfRows(linalg::GenericOp op, ArrayRef<int64_t> ranges, unsigned dim) {
  if (op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1 || ranges[dim] > kMaxRowSteps)
    return false;
  Value input = op.getDpsInputOperand(0)->get();
  auto last = dyn_cast<AffineDimExpr>(op.getIndexingMapsArray()[0].getResults().back());
  llvm::SmallVector<Value> reached{op.getResult(0)};
  for (size_t i = 0; last && last.getPosition() == dim && i < reached.size() && i < 8; ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (llvm::is_contained(user->getOperands(), input))
        return true;
      if (user->getNumResults() == 1)
        reached.push_back(user->getResult(0));
    }
  return false;
}

/// Returns how to split a sum of products of f32 whose result has too few elements (points) to keep
/// `invocations` invocations busy. None if the result has enough, or if there are too few steps.
/// `ranges`: the extents of the loops. `plain`: the reduction loops that can be split.
std::optional<Split> chooseSharedSplit(linalg::GenericOp op, ArrayRef<int64_t> ranges,
                                       ArrayRef<unsigned> plain, int64_t invocations) {
  const auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getElementType().isF32();
  };
  if (invocations == 0 || !factorsOf(op) || !llvm::all_of(op->getOperandTypes(), isStatic))
    return std::nullopt;
  const auto longest = *std::max_element(
      plain.begin(), plain.end(), [&](unsigned a, unsigned b) { return ranges[a] < ranges[b]; });
  int64_t steps = 1, operands = 0;
  for (int64_t extent : reductionExtentsOf(op))
    steps *= extent;
  for (Value input : op.getInputs())
    operands += cast<RankedTensorType>(input.getType()).getNumElements();
  const int64_t points =
      std::max<int64_t>(1, cast<RankedTensorType>(op.getResult(0).getType()).getNumElements());
  // The results of all parts together are at most as large as the operands, because they are
  // written and read again and take memory.
  int64_t parts = std::min({invocations * kPointsPerInvocation / points, steps / kMinSharedSteps,
                            operands / points, kMaxSharedParts, ranges[longest]});
  while (parts > 1 && ranges[longest] % parts != 0)
    --parts;
  if (parts < 2)
    return std::nullopt;
  Split split{longest, ranges[longest] / parts, parts};
  split.leading = true;
  return split;
}

/// Returns how to split a reduction, or none if it is not split. invocations: the number of
/// invocations that keep the device busy; 0 if it is not known.
std::optional<Split> chooseSplit(linalg::GenericOp op, int64_t invocations) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return std::nullopt;
  Operation *combiner = combinerOf(op);
  if (!combiner || !arith::getNeutralElement(combiner))
    return std::nullopt;
  const auto ranges = op.getStaticLoopRanges();
  llvm::SmallVector<unsigned> all, plain;
  op.getReductionDims(all);
  __int128 total = 1;
  bool dynamic = false;
  for (unsigned dim : all) {
    dynamic |= ShapedType::isDynamic(ranges[dim]);
    total *= ShapedType::isDynamic(ranges[dim]) ? 1 : ranges[dim];
    if (ranges[dim] != 1 && isPlain(op, dim))
      plain.push_back(dim);
  }
  if (plain.empty() || total == 0)
    return std::nullopt;
  if (dynamic) // The number of steps is unknown. Two reductions have fewer steps each.
    return plain.size() > 1 ? std::optional(Split{plain.front()}) : std::nullopt;
  if (total <= kMaxSteps)
    return chooseSharedSplit(op, ranges, plain, invocations);
  if (isOfRows(op, ranges, plain.back()))
    return std::nullopt;
  for (unsigned dim : plain)
    if (ranges[dim] <= kMaxSteps && total / ranges[dim] <= kMaxSteps && total > ranges[dim])
      return Split{dim};
  Split split;
  split.dim = *std::max_element(plain.begin(), plain.end(),
                                [&](unsigned a, unsigned b) { return ranges[a] < ranges[b]; });
  const int64_t range = ranges[split.dim];
  const auto others = static_cast<int64_t>(total / range);
  const int64_t maxPart = std::max<int64_t>(kMaxPartSteps / others, 1);
  if (maxPart == 1)
    return Split{split.dim};
  for (split.part = std::min(maxPart, range); range % split.part != 0;)
    --split.part;
  split.parts = range / split.part;
  if (split.part < std::min<int64_t>(maxPart, 64)) { // The largest divisor is too small.
    split.parts = (range + maxPart - 1) / maxPart;
    split.part = (range + split.parts - 1) / split.parts;
    split.parts = (range + split.part - 1) / split.part;
    split.padded = split.part * split.parts != range;
  }
  return split;
}

/// Returns the operand with dimension `position` divided into two, of the extents split.parts and
/// split.part. Pads the dimension first if the split needs that.
Value inParts(OpBuilder &builder, Location loc, Value operand, unsigned position,
              const Split &split) {
  auto type = cast<RankedTensorType>(operand.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[position] = split.part * split.parts;
  if (split.padded) {
    llvm::SmallVector<OpFoldResult> low(shape.size(), builder.getIndexAttr(0)), high = low;
    high[position] = builder.getIndexAttr(shape[position] - type.getDimSize(position));
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type.getElementType()));
    operand = builder.create<tensor::PadOp>(loc, type.clone(shape), operand, low, high, zero);
  }
  llvm::SmallVector<ReassociationIndices> groups;
  llvm::SmallVector<OpFoldResult> sizes = tensorDims(builder, operand);
  int64_t next = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    groups.push_back({next++});
    if (d == position)
      groups.back().push_back(next++);
  }
  shape[position] = split.part;
  shape.insert(shape.begin() + position, split.parts);
  sizes[position] = builder.getIndexAttr(split.part);
  sizes.insert(sizes.begin() + position, builder.getIndexAttr(split.parts));
  return builder.create<tensor::ExpandShapeOp>(loc, type.clone(shape), operand, groups, sizes);
}

/// Adapts the cloned body of the first reduction `op`, in which loop split.dim counts within a part
/// and loop `partsDim` counts the parts. Replaces the index of loop split.dim by the index of the
/// original loop, whose extent was `range`, and lets the body ignore steps in the padding.
void adaptBody(OpBuilder &builder, linalg::GenericOp op, const Split &split, unsigned partsDim,
               int64_t range) {
  Block &body = op.getRegion().front();
  Location loc = op.getLoc();
  llvm::SmallVector<linalg::IndexOp> indices(body.getOps<linalg::IndexOp>());
  builder.setInsertionPointToStart(&body);
  auto whole = [&]() -> Value {
    Value part = builder.create<linalg::IndexOp>(loc, partsDim);
    Value start = builder.create<arith::MulIOp>(
        loc, part, builder.create<arith::ConstantIndexOp>(loc, split.part));
    return builder.create<arith::AddIOp>(loc, start,
                                         builder.create<linalg::IndexOp>(loc, split.dim));
  };
  for (linalg::IndexOp index : indices)
    if (index.getDim() == split.dim) {
      index.getResult().replaceAllUsesWith(whole());
      index.erase();
    }
  if (!split.padded)
    return;
  auto yield = cast<linalg::YieldOp>(body.getTerminator());
  builder.setInsertionPoint(yield);
  Value inside = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, whole(),
                                               builder.create<arith::ConstantIndexOp>(loc, range));
  yield.setOperand(0, builder.create<arith::SelectOp>(loc, inside, yield.getOperand(0),
                                                      body.getArguments().back()));
}

/// Builds the two reductions that replace one, and returns them in order.
std::pair<linalg::GenericOp, linalg::GenericOp> apply(linalg::GenericOp op, const Split &split) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  const int64_t range = op.getStaticLoopRanges()[split.dim];
  const bool whole = split.part == 0;
  const unsigned loops = op.getNumLoops() + (whole ? 0 : 1);
  // The loop that is parallel in the first reduction and reduced by the second.
  const unsigned outer = whole ? split.dim : op.getNumLoops();
  auto iterators = op.getIteratorTypesArray();
  llvm::SmallVector<AffineMap> maps;
  llvm::SmallVector<Value> inputs;
  OpFoldResult extent = builder.getIndexAttr(split.parts);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    llvm::SmallVector<AffineExpr> results;
    Value input = operand->get();
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      if (expr == getAffineDimExpr(split.dim, context)) {
        const auto position = static_cast<unsigned>(results.size());
        if (whole) {
          extent = tensorDims(builder, input)[position];
        } else {
          input = inParts(builder, loc, input, position, split);
          results.push_back(getAffineDimExpr(outer, context));
        }
      }
      results.push_back(expr);
    }
    maps.push_back(AffineMap::get(loops, 0, results, context));
    inputs.push_back(input);
  }
  if (whole)
    iterators[split.dim] = utils::IteratorType::parallel;
  else
    iterators.push_back(utils::IteratorType::parallel);

  Value init = op.getDpsInits().front();
  auto results = llvm::to_vector(op.getIndexingMapsArray().back().getResults());
  const auto place = static_cast<unsigned>(split.leading ? 0 : results.size());
  results.insert(results.begin() + place, getAffineDimExpr(outer, context));
  maps.push_back(AffineMap::get(loops, 0, results, context));
  Type element = cast<RankedTensorType>(init.getType()).getElementType();
  auto sizes = tensorDims(builder, init);
  sizes.insert(sizes.begin() + place, extent);
  Operation *combiner = combinerOf(op);
  Value neutral = builder.create<arith::ConstantOp>(loc, *arith::getNeutralElement(combiner));
  Value empty = builder.create<tensor::EmptyOp>(loc, sizes, element);
  Value filled = builder.create<linalg::FillOp>(loc, neutral, empty).getResult(0);
  auto first =
      builder.create<linalg::GenericOp>(loc, filled.getType(), inputs, filled, maps, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&first.getRegion(), mapping);
  {
    OpBuilder::InsertionGuard restore(builder);
    adaptBody(builder, first, split, outer, range);
  }

  const auto rank = static_cast<unsigned>(sizes.size());
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  llvm::SmallVector<utils::IteratorType> sums(rank, utils::IteratorType::parallel);
  sums[place] = utils::IteratorType::reduction;
  auto second = builder.create<linalg::GenericOp>(
      loc, init.getType(), first.getResult(0), init,
      ArrayRef<AffineMap>{identity, identity.dropResult(place)}, sums,
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        IRMapping operands;
        operands.map(combiner->getOperand(0), arguments[1]);
        operands.map(combiner->getOperand(1), arguments[0]);
        inner.create<linalg::YieldOp>(at, inner.clone(*combiner, operands)->getResult(0));
      });
  op.getResult(0).replaceAllUsesWith(second.getResult(0));
  op.erase();
  return {first, second};
}

struct SplitReductionsPass : impl::SplitReductionsBase<SplitReductionsPass> {
  using SplitReductionsBase::SplitReductionsBase;

  void runOnOperation() override {
    std::deque<linalg::GenericOp> queue;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() > 0)
        queue.push_back(op);
    });
    while (!queue.empty()) {
      linalg::GenericOp op = queue.front();
      queue.pop_front();
      if (std::optional<Split> split = chooseSplit(op, invocations)) {
        auto [first, second] = apply(op, *split);
        queue.push_back(first);
        queue.push_back(second);
      }
    }
  }
};

} // namespace
} // namespace gantry::codegen

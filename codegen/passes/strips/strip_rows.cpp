// Implements the computation of the rows that a strip needs, and the construction of strips.
#include "codegen/passes/strips/strip_rows.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// The smallest and the largest value of an index, inclusive.
struct Range {
  int64_t min = 0, max = 0;
};

/// How an operator reads an operand to compute some rows of its result.
struct Read {
  OpOperand *operand = nullptr;
  std::optional<Rows> rows; // None: all rows.
};
using Reads = SmallVector<Read, 4>;

RankedTensorType tensorType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Returns the range of the values of an expression if the counter of loop i takes all values of
/// loops[i]. The expression consists of sums of counters times constants, and of quotients and
/// remainders of such sums by constants. None for any other expression.
std::optional<Range> rangeOf(AffineExpr expr, ArrayRef<Range> loops) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Range{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  const auto left = rangeOf(binary.getLHS(), loops), right = rangeOf(binary.getRHS(), loops);
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Range{left->min + right->min, left->max + right->max};
  if (right->min != right->max || right->min < 0)
    return std::nullopt;
  const int64_t factor = right->min;
  if (expr.getKind() == AffineExprKind::Mul)
    return Range{left->min * factor, left->max * factor};
  if (factor == 0 || left->min < 0)
    return std::nullopt;
  const Range quotient{left->min / factor, left->max / factor};
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return quotient;
  if (expr.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  return quotient.min == quotient.max ? Range{left->min % factor, left->max % factor}
                                      : Range{0, factor - 1};
}

/// Returns whether the expression has no quotients and no remainders.
bool isSumOfLoops(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    found |= part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::Mod ||
             part.getKind() == AffineExprKind::CeilDiv;
  });
  return !found;
}

/// Returns whether an index depends on the loop's counter only through remainders, or not at all.
/// An example is the channel index in an operator that moves channels into rows (depth to space):
/// it depends on the row modulo the number of rows that a pixel becomes.
bool isRemainderOf(AffineExpr expr, unsigned loop) {
  if (expr.getKind() == AffineExprKind::Mod || !expr.isFunctionOfDim(loop))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && isRemainderOf(binary.getLHS(), loop) && isRemainderOf(binary.getRHS(), loop);
}

/// Returns the parallel loop whose counter is the index along dimension `dim` of the generic's
/// result. None if there is no such loop, or if another index of the result depends on it, too.
std::optional<unsigned> rowLoopOf(linalg::GenericOp op, unsigned dim) {
  AffineMap result = op.getIndexingMapsArray().back();
  auto loop = dyn_cast<AffineDimExpr>(result.getResult(dim));
  if (!loop || op.getIteratorTypesArray()[loop.getPosition()] != utils::IteratorType::parallel ||
      llvm::count_if(result.getResults(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(loop.getPosition());
      }) != 1)
    return std::nullopt;
  return loop.getPosition();
}

/// Returns whether all elements of the tensor are equal, or all are undefined. A strip then makes a
/// smaller tensor of this kind and does not slice the large one.
bool isRemade(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getOutputs().front().getDefiningOp<tensor::EmptyOp>() != nullptr;
  return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// Returns readsOf() for a linalg.generic.
std::optional<Reads> readsOfGeneric(linalg::GenericOp op, const Rows &rows) {
  const auto loop = rowLoopOf(op, rows.dim);
  const auto extents = op.getStaticLoopRanges();
  if (!loop || op.getNumResults() != 1 || llvm::any_of(extents, ShapedType::isDynamic))
    return std::nullopt;
  SmallVector<Range> loops;
  for (int64_t extent : extents)
    loops.push_back({0, extent - 1});
  loops[*loop] = {rows.begin, rows.end - 1};
  Reads reads;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!tensorType(operand.get()))
      continue;
    Read read{&operand, std::nullopt};
    for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (isRemainderOf(expr, *loop))
        continue; // Any index along this dimension of the operand may be read.
      const auto range = rangeOf(expr, loops);
      if (!range || read.rows)
        return std::nullopt;
      read.rows = Rows{static_cast<unsigned>(i), range->min, range->max + 1};
    }
    reads.push_back(read);
  }
  return reads;
}

/// The rows of a pad's result as rows of its source, and the padding before and after them.
struct PaddedRows {
  Rows source;
  int64_t low = 0, high = 0;
};

/// Returns the rows of the pad's source for these rows of its result. None if the padding is not a
/// fixed number of constant elements, or if no row of the source is among these rows.
std::optional<PaddedRows> sourceRows(tensor::PadOp op, const Rows &rows) {
  const auto low = op.getStaticLow(), high = op.getStaticHigh();
  if (!op.getConstantPaddingValue() || llvm::any_of(low, ShapedType::isDynamic) ||
      llvm::any_of(high, ShapedType::isDynamic))
    return std::nullopt;
  const int64_t before = low[rows.dim], extent = op.getSourceType().getDimSize(rows.dim);
  PaddedRows padded{
      {rows.dim, std::max<int64_t>(rows.begin - before, 0), std::min(rows.end - before, extent)}};
  if (before < 0 || high[rows.dim] < 0 || padded.source.count() < 1)
    return std::nullopt;
  padded.low = std::max<int64_t>(before - rows.begin, 0);
  padded.high = std::max<int64_t>(rows.end - before - extent, 0);
  return padded;
}

/// Returns the dimension of a reshape's source that equals dimension `dim` of its result. None if
/// the reshape divides it or combines it with others.
std::optional<unsigned> sourceDim(Operation *reshape, unsigned dim) {
  const bool expands = isa<tensor::ExpandShapeOp>(reshape);
  const auto groups = expands ? cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices()
                              : cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices();
  for (auto [i, group] : llvm::enumerate(groups))
    if (expands ? llvm::is_contained(group, int64_t(dim)) : i == dim)
      return group.size() != 1 ? std::nullopt
                               : std::optional<unsigned>(expands ? unsigned(i) : group.front());
  return std::nullopt;
}

/// Returns the reads of a concatenation along the dimension of the rows: for each input, those of
/// its rows that are among `rows` of the result. Inputs without any of these rows are left out.
Reads rowsOfInputs(tensor::ConcatOp concat, const Rows &rows) {
  Reads reads;
  int64_t begin = 0;
  for (OpOperand &operand : concat->getOpOperands()) {
    const int64_t extent = tensorType(operand.get()).getDimSize(rows.dim);
    const Rows part{rows.dim, std::max<int64_t>(rows.begin - begin, 0),
                    std::min(rows.end - begin, extent)};
    if (part.count() > 0)
      reads.push_back({&operand, part});
    begin += extent;
  }
  return reads;
}

/// Returns how the operator reads its operands to compute these rows of its result. None if the
/// operator cannot compute them separately.
std::optional<Reads> readsOf(Operation *op, const Rows &rows) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return readsOfGeneric(generic, rows);
  Reads reads;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    const auto padded = sourceRows(pad, rows);
    if (!padded)
      return std::nullopt;
    reads.push_back({&pad.getSourceMutable(), padded->source});
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    if (concat.getDim() == rows.dim)
      return rowsOfInputs(concat, rows);
    for (OpOperand &operand : concat->getOpOperands())
      reads.push_back({&operand, rows});
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (slice.getSourceType().getRank() != slice.getType().getRank() ||
        llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic) ||
        slice.getStaticStrides()[rows.dim] != 1)
      return std::nullopt;
    const int64_t offset = slice.getStaticOffsets()[rows.dim];
    reads.push_back(
        {&slice.getSourceMutable(), Rows{rows.dim, rows.begin + offset, rows.end + offset}});
  } else if (isReshape(op)) {
    const auto dim = sourceDim(op, rows.dim);
    if (!dim)
      return std::nullopt;
    reads.push_back({&op->getOpOperand(0), Rows{*dim, rows.begin, rows.end}});
  } else {
    return std::nullopt;
  }
  return reads;
}

/// Returns whether the operator needs all rows of another member of the chain. The other member is
/// an operand, or the operator's body reads it at computed positions. reads: readsOf() the
/// operator.
bool readsWholeMember(const Chain &chain, Operation *op, const Reads &reads) {
  for (const Read &read : reads)
    if (!read.rows && chain.members.contains(read.operand->get().getDefiningOp()))
      return true;
  llvm::SetVector<Value> captured = usedValues(op);
  for (Value operand : op->getOperands())
    captured.remove(operand);
  return llvm::any_of(captured,
                      [&](Value value) { return chain.members.contains(value.getDefiningOp()); });
}

/// Returns the smallest range of rows that contains both ranges. None if the ranges are along
/// different dimensions.
std::optional<Rows> joined(const Rows &a, const Rows &b) {
  if (a.dim != b.dim)
    return std::nullopt;
  return Rows{a.dim, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// Builds the operators that compute one strip: for each member of the chain that the strip needs,
/// one that computes only some rows.
class StripBuilder {
public:
  StripBuilder(OpBuilder &builder, const Chain &chain, const StripRows &rows)
      : builder_(builder), chain_(chain), rows_(rows) {}

  /// Builds the operators, and returns the strip of the chain's result.
  Value build() {
    for (Operation *member : chain_.members)
      if (auto found = rows_.find(member); found != rows_.end())
        built_[member->getResult(0)] = part(member, found->second);
    return built_.lookup(chain_.last()->getResult(0));
  }

private:
  /// Returns these rows of a tensor that a member reads; the whole tensor if `rows` is none.
  Value rowsOf(Value tensor, const std::optional<Rows> &rows) {
    if (!rows)
      return tensor;
    auto type = tensorType(tensor);
    Rows has{rows->dim, 0, type.getDimSize(rows->dim)};
    Value source = tensor;
    if (Value strip = built_.lookup(tensor)) {
      source = strip;
      has = rows_.at(tensor.getDefiningOp());
    } else if (isRemade(tensor)) {
      return remake(tensor, *rows);
    }
    if (has.begin == rows->begin && has.end == rows->end)
      return source;
    const unsigned rank = type.getRank();
    SmallVector<OpFoldResult> offsets(rank, builder_.getIndexAttr(0)), sizes, strides;
    for (int64_t size : shapeOf(tensor, *rows))
      sizes.push_back(builder_.getIndexAttr(size));
    strides.assign(rank, builder_.getIndexAttr(1));
    offsets[rows->dim] = builder_.getIndexAttr(rows->begin - has.begin);
    return builder_.create<tensor::ExtractSliceOp>(tensor.getLoc(), source, offsets, sizes,
                                                   strides);
  }

  static SmallVector<int64_t> shapeOf(Value tensor, const Rows &rows) {
    SmallVector<int64_t> shape(tensorType(tensor).getShape());
    shape[rows.dim] = rows.count();
    return shape;
  }

  /// Returns a tensor with as many rows as `rows`, and with the elements of `tensor` (isRemade()).
  Value remake(Value tensor, const Rows &rows) {
    Location loc = tensor.getLoc();
    Value empty = builder_.create<tensor::EmptyOp>(loc, shapeOf(tensor, rows),
                                                   tensorType(tensor).getElementType());
    if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
      return builder_.create<linalg::FillOp>(loc, fill.getInputs(), empty).getResult(0);
    return empty;
  }

  /// Builds these rows of a member's result.
  Value part(Operation *member, const Rows &rows) {
    const Reads reads = *readsOf(member, rows);
    SmallVector<Value> operands(member->getOperands());
    for (const Read &read : reads)
      operands[read.operand->getOperandNumber()] = rowsOf(read.operand->get(), read.rows);
    if (auto concat = dyn_cast<tensor::ConcatOp>(member))
      return join(concat, operands, reads);
    Value member0 = member->getResult(0);
    auto type = tensorType(member0).clone(shapeOf(member0, rows));
    Operation *made = nullptr;
    if (auto generic = dyn_cast<linalg::GenericOp>(member)) {
      made = generate(generic, type, operands, reads, rows);
    } else if (auto pad = dyn_cast<tensor::PadOp>(member)) {
      made = padRows(pad, type, operands.front(), rows);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(member)) {
      auto offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes();
      offsets[rows.dim] = builder_.getIndexAttr(0);
      sizes[rows.dim] = builder_.getIndexAttr(rows.count());
      made = builder_.create<tensor::ExtractSliceOp>(member->getLoc(), operands.front(), offsets,
                                                     sizes, slice.getMixedStrides());
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(member)) {
      made = builder_.create<tensor::ExpandShapeOp>(member->getLoc(), type, operands.front(),
                                                    expand.getReassociationIndices());
    } else {
      made = builder_.create<tensor::CollapseShapeOp>(
          member->getLoc(), type, operands.front(),
          cast<tensor::CollapseShapeOp>(member).getReassociationIndices());
    }
    copyRowsName(member, made, rows);
    return made->getResult(0);
  }

  /// Gives an operator the name of a member's result and of its rows: "conv[0:28]".
  static void copyRowsName(Operation *member, Operation *made, const Rows &rows) {
    if (StringAttr name = tensorName(member))
      setTensorName(made, name.getValue().str() + "[" + std::to_string(rows.begin) + ":" +
                              std::to_string(rows.end) + "]");
  }

  /// Builds the rows of a concatenation's result from `operands`, the rows of its inputs. reads:
  /// the result of readsOf(), which names the inputs that have some of the rows.
  Value join(tensor::ConcatOp member, ArrayRef<Value> operands, const Reads &reads) {
    SmallVector<Value> inputs;
    for (const Read &read : reads)
      inputs.push_back(operands[read.operand->getOperandNumber()]);
    if (inputs.size() == 1)
      return inputs.front();
    auto made = builder_.create<tensor::ConcatOp>(member.getLoc(), member.getDim(), inputs);
    copyRowsName(member, made, rows_.at(member));
    return made;
  }

  Operation *generate(linalg::GenericOp op, RankedTensorType type, ArrayRef<Value> operands,
                      const Reads &reads, const Rows &rows) {
    const unsigned loop = *rowLoopOf(op, rows.dim);
    // The loop over the rows counts from 0 within the strip, so rows.begin is added to its counter.
    // The operand of the strip begins with row `offset` of the whole operand, so `offset` is
    // subtracted from the index.
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineExpr first = builder_.getAffineDimExpr(loop) + rows.begin;
    for (const Read &read : reads) {
      AffineMap &map = maps[read.operand->getOperandNumber()];
      SmallVector<AffineExpr> results;
      for (auto [i, expr] : llvm::enumerate(map.getResults())) {
        const int64_t offset = read.rows && read.rows->dim == i ? read.rows->begin : 0;
        AffineExpr moved = expr.replace(builder_.getAffineDimExpr(loop), first) - offset;
        // An index with remainders is not simplified: MLIR would replace a remainder by a
        // difference, in which later passes do not recognise a remainder.
        results.push_back(isSumOfLoops(moved) ? simplifyAffineExpr(moved, map.getNumDims(), 0)
                                              : moved);
      }
      map = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
    }
    const unsigned inputs = op.getNumDpsInputs();
    auto made = builder_.create<linalg::GenericOp>(
        op.getLoc(), TypeRange(type), operands.take_front(inputs), operands.drop_front(inputs),
        maps, op.getIteratorTypesArray());
    IRMapping mapping;
    op.getRegion().cloneInto(&made.getRegion(), mapping);
    OpBuilder::InsertionGuard restore(builder_);
    SmallVector<linalg::IndexOp> indices(made.getRegion().front().getOps<linalg::IndexOp>());
    for (linalg::IndexOp index : indices) {
      if (index.getDim() != loop || rows.begin == 0)
        continue;
      builder_.setInsertionPointAfter(index);
      Value begin = builder_.create<arith::ConstantIndexOp>(op.getLoc(), rows.begin);
      Value whole = builder_.create<arith::AddIOp>(op.getLoc(), index, begin);
      index.getResult().replaceAllUsesExcept(whole, whole.getDefiningOp());
    }
    return made;
  }

  Operation *padRows(tensor::PadOp op, RankedTensorType type, Value source, const Rows &rows) {
    const PaddedRows padded = *sourceRows(op, rows);
    auto low = op.getMixedLowPad(), high = op.getMixedHighPad();
    low[rows.dim] = builder_.getIndexAttr(padded.low);
    high[rows.dim] = builder_.getIndexAttr(padded.high);
    return builder_.create<tensor::PadOp>(op.getLoc(), type, source, low, high,
                                          op.getConstantPaddingValue(), op.getNofold());
  }

  OpBuilder &builder_;
  const Chain &chain_;
  const StripRows &rows_;
  llvm::DenseMap<Value, Value> built_; // The strip of each member's result.
};

} // namespace

std::optional<StripRows> rowsOfStrip(const Chain &chain, const Rows &result) {
  StripRows needed;
  needed[chain.last()] = result;
  for (Operation *member : llvm::reverse(chain.members)) {
    auto found = needed.find(member);
    if (found == needed.end())
      continue;
    if (member->getNumResults() != 1 || !tensorType(member->getResult(0)) ||
        !tensorType(member->getResult(0)).hasStaticShape())
      return std::nullopt;
    const auto reads = readsOf(member, found->second);
    if (!reads)
      return std::nullopt;
    if (readsWholeMember(chain, member, *reads))
      return std::nullopt;
    for (const Read &read : *reads) {
      Operation *producer = read.operand->get().getDefiningOp();
      if (!read.rows || !chain.members.contains(producer))
        continue;
      auto [entry, isNew] = needed.try_emplace(producer, *read.rows);
      const auto both = joined(entry->second, *read.rows);
      if (!both)
        return std::nullopt;
      entry->second = *both;
    }
  }
  return needed;
}

void computeInStrips(const Chain &chain, const Strips &strips) {
  Operation *last = chain.last();
  OpBuilder builder(last);
  SmallVector<Value> parts;
  for (int64_t i = 0; i < strips.count(); ++i) {
    const StripRows rows = *rowsOfStrip(chain, strips.at(i));
    parts.push_back(StripBuilder(builder, chain, rows).build());
  }
  auto whole = builder.create<tensor::ConcatOp>(last->getLoc(), tensorType(last->getResult(0)),
                                                strips.dim, parts);
  copyTensorName(last, whole);
  last->getResult(0).replaceAllUsesWith(whole.getResult());
  for (Operation *member : llvm::reverse(chain.members))
    if (member->use_empty())
      member->erase();
}

double operationsOf(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return 0;
  double count = 0;
  for (Operation &inner : generic.getRegion().front())
    count +=
        inner.getNumResults() == 1 && inner.getResult(0).getType().isIntOrFloat() &&
        !isa<arith::ConstantOp, arith::SelectOp, arith::CmpFOp, arith::CmpIOp, tensor::ExtractOp>(
            inner);
  for (int64_t extent : generic.getStaticLoopRanges())
    count *= ShapedType::isDynamic(extent) ? 0 : double(extent);
  return count;
}

} // namespace gantry::codegen

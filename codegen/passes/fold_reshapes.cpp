// Implements the pass fold-reshapes (Passes.td). A reshape is a view of a dense tensor, so an
// operator that only moves elements would have to store its result for a reshape after it. The pass
// changes such operators so that the reshape is not needed, or comes before them.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_FOLDRESHAPES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns whether the collapse only drops dimensions of extent 1: at most one dimension of each
/// group that becomes one dimension has another extent.
bool onlyDropsUnits(tensor::CollapseShapeOp collapse) {
  const llvm::ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  return llvm::all_of(collapse.getReassociationIndices(), [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) <= 1;
  });
}

/// Returns the index in the source of a collapse, given the index in its result.
llvm::SmallVector<AffineExpr> sourceIndex(tensor::CollapseShapeOp collapse,
                                          llvm::ArrayRef<AffineExpr> index) {
  const llvm::ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  llvm::SmallVector<AffineExpr> source(shape.size());
  for (auto [group, expr] : llvm::zip(collapse.getReassociationIndices(), index)) {
    AffineExpr rest = expr;
    for (size_t i = group.size(); i-- > 0;) {
      source[group[i]] = i == 0 ? rest : rest % shape[group[i]];
      rest = rest.floorDiv(shape[group[i]]);
    }
  }
  return source;
}

/// Returns the index in the source of an expand, given the index in its result.
llvm::SmallVector<AffineExpr> sourceIndex(tensor::ExpandShapeOp expand,
                                          llvm::ArrayRef<AffineExpr> index) {
  llvm::SmallVector<AffineExpr> source;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    AffineExpr linear = getAffineConstantExpr(0, expand.getContext());
    for (int64_t dim : group)
      linear = linear * expand.getResultType().getDimSize(dim) + index[dim];
    source.push_back(linear);
  }
  return source;
}

struct FoldReshapesPass : impl::FoldReshapesBase<FoldReshapesPass> {
  using FoldReshapesBase::FoldReshapesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (auto collapse :
         llvm::make_early_inc_range(function.getBody().front().getOps<tensor::CollapseShapeOp>()))
      if (!foldSlice(collapse))
        foldShuffle(collapse);
    for (auto expand :
         llvm::make_early_inc_range(function.getBody().front().getOps<tensor::ExpandShapeOp>()))
      divideBeforeSlice(expand);
  }

  /// If a reshape divides dimensions of a slice, as for the heads of an attention, divides the
  /// dimensions of the whole tensor and slices the result instead. No reshape then needs the slice
  /// as a dense buffer.
  static void divideBeforeSlice(tensor::ExpandShapeOp expand) {
    auto slice = expand.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || !slice.hasUnitStride() || slice.getType().getRank() == 0)
      return;
    OpBuilder builder(expand);
    const RankedTensorType source = slice.getSourceType(), result = expand.getResultType();
    const llvm::SmallVector<OpFoldResult> extents = tensorDims(builder, slice.getSource());
    llvm::SmallVector<ReassociationIndices> groups;
    llvm::SmallVector<OpFoldResult> shape, offsets, sizes;
    const auto add = [&](OpFoldResult extent, OpFoldResult offset, OpFoldResult size) {
      groups.back().push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(extent);
      offsets.push_back(offset);
      sizes.push_back(size);
    };
    const auto constant = [&](int64_t number) { return builder.getIndexAttr(number); };
    const llvm::SmallBitVector dropped = slice.getDroppedDims();
    const auto resultGroups = expand.getReassociationIndices();
    const ReassociationIndices *group = resultGroups.begin();
    for (int64_t d = 0; d < source.getRank(); ++d) {
      groups.emplace_back();
      const ReassociationIndices parts = dropped.test(d) ? ReassociationIndices{0} : *group++;
      if (parts.size() == 1) {
        add(extents[d], slice.getMixedOffsets()[d], slice.getMixedSizes()[d]);
        continue;
      }
      // The product of the sizes of the dimensions into which dimension d is divided, without the
      // first.
      int64_t inner = 1;
      for (int64_t part : llvm::drop_begin(parts))
        inner *= std::max<int64_t>(0, result.getDimSize(part));
      const int64_t offset = slice.getStaticOffset(d);
      if (inner == 0 || source.isDynamicDim(d) || ShapedType::isDynamic(offset) ||
          result.isDynamicDim(parts.front()) || source.getDimSize(d) % inner != 0 ||
          offset % inner != 0)
        return;
      add(constant(source.getDimSize(d) / inner), constant(offset / inner),
          constant(result.getDimSize(parts.front())));
      for (int64_t part : llvm::drop_begin(parts))
        add(constant(result.getDimSize(part)), constant(0), constant(result.getDimSize(part)));
    }
    auto divided = builder.create<tensor::ExpandShapeOp>(
        expand.getLoc(),
        RankedTensorType::get(decomposeMixedValues(shape).first, source.getElementType()),
        slice.getSource(), groups, shape);
    auto reduced = builder.create<tensor::ExtractSliceOp>(
        expand.getLoc(), result, divided, offsets, sizes,
        llvm::SmallVector<OpFoldResult>(shape.size(), constant(1)));
    copyTensorName(expand, reduced);
    expand.getResult().replaceAllUsesWith(reduced);
    expand.erase();
    if (slice->use_empty())
      slice->erase();
  }

  /// If the collapse only drops dimensions of extent 1 of a slice, lets the slice drop them itself.
  /// Returns whether it did.
  static bool foldSlice(tensor::CollapseShapeOp collapse) {
    auto slice = collapse.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || !onlyDropsUnits(collapse))
      return false;
    OpBuilder builder(collapse);
    auto reduced = builder.create<tensor::ExtractSliceOp>(
        collapse.getLoc(), collapse.getResultType(), slice.getSource(), slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
    replace(collapse, reduced, slice);
    return true;
  }

  /// If the collapse follows an operator that moves the elements of an expanded tensor (an expand,
  /// a permutation and a collapse), replaces the three by one operator. The shapes must be fixed.
  /// Returns whether it did.
  static bool foldShuffle(tensor::CollapseShapeOp collapse) {
    auto moved = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
    if (!moved || !isMovement(moved) || moved.getNumDpsInputs() != 1 || !moved->hasOneUse() ||
        !moved.getIndexingMapsArray().back().isIdentity())
      return false;
    auto expand = moved.getDpsInputOperand(0)->get().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || collapse.getResultType().getRank() == 0 || expand.getSrcType().getRank() == 0 ||
        !collapse.getSrcType().hasStaticShape() || !expand.getResultType().hasStaticShape())
      return false;
    MLIRContext *context = collapse.getContext();
    OpBuilder builder(collapse);
    const auto rank = static_cast<unsigned>(collapse.getResultType().getRank());
    llvm::SmallVector<AffineExpr> index;
    for (unsigned d = 0; d < rank; ++d)
      index.push_back(getAffineDimExpr(d, context));
    const AffineMap toMoved = AffineMap::get(rank, 0, sourceIndex(collapse, index), context);
    const AffineMap toExpanded = moved.getIndexingMapsArray().front().compose(toMoved);
    const AffineMap toSource =
        AffineMap::get(rank, 0, sourceIndex(expand, toExpanded.getResults()), context);
    const Location loc =
        FusedLoc::get(context, {expand.getLoc(), moved.getLoc(), collapse.getLoc()});
    Value empty = builder.create<tensor::EmptyOp>(loc, collapse.getResultType().getShape(),
                                                  collapse.getResultType().getElementType());
    auto shuffle = builder.create<linalg::GenericOp>(
        loc, TypeRange(collapse.getResultType()), expand.getSrc(), empty,
        llvm::ArrayRef{toSource, builder.getMultiDimIdentityMap(rank)},
        llvm::SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [](OpBuilder &inside, Location at, ValueRange values) {
          inside.create<linalg::YieldOp>(at, values.front());
        });
    replace(collapse, shuffle, moved);
    if (expand->use_empty())
      expand->erase();
    return true;
  }

  /// Replaces the reshape by the operation `by`. Erases `before`, whose result the reshape read, if
  /// nothing else reads it.
  static void replace(tensor::CollapseShapeOp collapse, Operation *by, Operation *before) {
    copyTensorName(collapse, by);
    collapse.getResult().replaceAllUsesWith(by->getResult(0));
    collapse.erase();
    if (before->use_empty())
      before->erase();
  }
};

} // namespace
} // namespace gantry::codegen

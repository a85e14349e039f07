// Implements tensor_dims.h.
#include "codegen/passes/tensor_dims.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace gantry::codegen {

using namespace mlir;

bool isReshape(Operation *op) {
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

Value viewedTensor(Value tensor) {
  while (isReshape(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

bool isReturned(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) || (isReshape(user) && isReturned(user->getResult(0)));
  });
}

Value copyTensor(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty =
      builder.create<tensor::EmptyOp>(loc, tensorDims(builder, tensor), type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  llvm::SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return builder
      .create<linalg::GenericOp>(loc, TypeRange(type), tensor, empty,
                                 llvm::ArrayRef{identity, identity}, loops,
                                 [](OpBuilder &at, Location inner, ValueRange values) {
                                   at.create<linalg::YieldOp>(inner, values.front());
                                 })
      .getResult(0);
}

void hoistArgumentDims(Block &block) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (BlockArgument argument : block.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int64_t i = 0; type && i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i))
        continue;
      Value hoisted = builder.create<tensor::DimOp>(argument.getLoc(), argument, i);
      for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
        auto dim = dyn_cast<tensor::DimOp>(user);
        if (!dim || dim.getResult() == hoisted || dim.getConstantIndex() != i)
          continue;
        dim.getResult().replaceAllUsesWith(hoisted);
        dim.erase();
      }
    }
  }
}

/// Returns the product of two sizes if `product` is set, otherwise their sum.
static OpFoldResult combine(OpBuilder &builder, Location loc, OpFoldResult a, OpFoldResult b,
                            bool product) {
  AffineExpr x = builder.getAffineSymbolExpr(0), y = builder.getAffineSymbolExpr(1);
  return affine::makeComposedFoldedAffineApply(builder, loc, product ? x * y : x + y, {a, b});
}

llvm::SmallVector<OpFoldResult> tensorDims(OpBuilder &builder, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  llvm::SmallVector<OpFoldResult> dims;
  if (type.hasStaticShape()) {
    for (int64_t dim : type.getShape())
      dims.push_back(builder.getIndexAttr(dim));
    return dims;
  }
  Location loc = tensor.getLoc();
  Operation *op = tensor.getDefiningOp();
  if (op && isa<DispatchOp>(op)) {
    auto dispatch = cast<DispatchOp>(op);
    unsigned next = 0;
    for (int64_t dim : type.getShape()) {
      if (ShapedType::isDynamic(dim))
        dims.push_back(dispatch.getDims()[dispatch.getResultDims()[next++]]);
      else
        dims.push_back(builder.getIndexAttr(dim));
    }
  } else if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op)) {
    dims = empty.getMixedSizes();
  } else if (auto dps = dyn_cast_or_null<DestinationStyleOpInterface>(op)) {
    dims =
        tensorDims(builder, dps.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get());
  } else if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
    dims = tensorDims(builder, pad.getSource());
    auto low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
    for (size_t i = 0; i < dims.size(); ++i) {
      OpFoldResult sum = combine(builder, loc, low[i], high[i], false);
      dims[i] = combine(builder, loc, dims[i], sum, false);
    }
  } else if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
    auto sizes = slice.getMixedSizes();
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (size_t i = 0; i < sizes.size(); ++i)
      if (!dropped.test(i))
        dims.push_back(sizes[i]);
  } else if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    dims = tensorDims(builder, concat.getInputs().front());
    for (Value input : concat.getInputs().drop_front())
      dims[concat.getDim()] = combine(builder, loc, dims[concat.getDim()],
                                      tensorDims(builder, input)[concat.getDim()], false);
  } else if (auto view = dyn_cast_or_null<ConcatOp>(op)) {
    dims = tensorDims(builder, view.getInputs().front());
    dims[view.getDim()] = builder.getIndexAttr(type.getDimSize(view.getDim()));
  } else if (auto scatter = dyn_cast_or_null<ScatterOp>(op)) {
    dims = tensorDims(builder, scatter.getData());
    if (scatter.getRows())
      dims.front() = scatter.getRows();
  } else if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op)) {
    dims = getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder);
  } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    auto source = tensorDims(builder, collapse.getSrc());
    for (const auto &group : collapse.getReassociationIndices()) {
      OpFoldResult product = source[group[0]];
      for (size_t i = 1; i < group.size(); ++i)
        product = combine(builder, loc, product, source[group[i]], true);
      dims.push_back(product);
    }
  } else {
    for (int64_t i = 0; i < type.getRank(); ++i) {
      auto isDim = [&](Operation *user) {
        auto dim = dyn_cast<tensor::DimOp>(user);
        return dim && dim.getConstantIndex() == i;
      };
      auto known = llvm::find_if(tensor.getUsers(), isDim);
      if (known != tensor.getUsers().end())
        dims.push_back((*known)->getResult(0));
      else
        dims.push_back(tensor::getMixedSize(builder, loc, tensor, i));
    }
  }
  // Static extents of the type replace the derived expressions.
  for (auto [i, dim] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(dim))
      dims[i] = builder.getIndexAttr(dim);
  return dims;
}

double assumedExtent(int64_t extent) {
  constexpr double kTypicalExtent = 64;
  return ShapedType::isDynamic(extent) ? kTypicalExtent : static_cast<double>(extent);
}

double assumedElements(RankedTensorType type) {
  double count = 1;
  for (int64_t extent : type.getShape())
    count *= assumedExtent(extent);
  return count;
}

} // namespace gantry::codegen

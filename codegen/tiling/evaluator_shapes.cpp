// Sizes in the kernel evaluator: extents of tensors and loops as index expressions.
#include "codegen/tiling/kernel_evaluator.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

using namespace mlir;

IndexExpr KernelEvaluator::indexOf(Value value) {
  if (auto found = indexValues_.find(value); found != indexValues_.end())
    return found->second;
  IndexExpr result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned tensors = 0;
    for (Type type : kernel_.getArgumentTypes())
      tensors += isa<RankedTensorType>(type);
    unsigned position = argument.getArgNumber() - tensors;
    result = space_.addVariable(builder_ ? dimValues_[position] : Value(), 1, (1 << 30));
  } else if (auto constant = value.getDefiningOp<arith::ConstantIndexOp>()) {
    result = IndexExpr(constant.value());
  } else if (auto apply = value.getDefiningOp<affine::AffineApplyOp>()) {
    AffineMap map = apply.getAffineMap();
    llvm::SmallVector<IndexExpr> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(indexOf(operand));
    llvm::ArrayRef<IndexExpr> all(operands);
    result = space_.evaluate(map.getResult(0), all.take_front(map.getNumDims()),
                             all.drop_front(map.getNumDims()));
  } else {
    fail(value.getDefiningOp());
  }
  indexValues_[value] = result;
  return result;
}

llvm::SmallVector<IndexExpr> KernelEvaluator::mixedValues(llvm::ArrayRef<int64_t> constants,
                                                          ValueRange values) {
  llvm::SmallVector<IndexExpr> result;
  for (int64_t constant : constants) {
    if (!ShapedType::isDynamic(constant)) {
      result.push_back(IndexExpr(constant));
    } else {
      result.push_back(indexOf(values.front()));
      values = values.drop_front();
    }
  }
  return result;
}

llvm::SmallVector<IndexExpr> KernelEvaluator::shapeOf(Value tensor) {
  if (auto found = shapes_.find(tensor); found != shapes_.end())
    return found->second;
  auto type = cast<RankedTensorType>(tensor.getType());
  llvm::SmallVector<IndexExpr> shape;
  Operation *op = tensor.getDefiningOp();
  if (type.hasStaticShape()) {
    for (int64_t dim : type.getShape())
      shape.push_back(IndexExpr(dim));
  } else if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    // The function's attribute says which dim argument each dynamic dimension is.
    auto map = kernel_->getAttrOfType<DenseI64ArrayAttr>("gantry.operand_dims").asArrayRef();
    unsigned tensors = 0, before = 0;
    for (auto [i, argumentType] : llvm::enumerate(kernel_.getArgumentTypes())) {
      auto ranked = dyn_cast<RankedTensorType>(argumentType);
      if (!ranked)
        continue;
      ++tensors;
      if (i < argument.getArgNumber())
        before += ranked.getNumDynamicDims();
    }
    for (int64_t dim : type.getShape())
      shape.push_back(ShapedType::isDynamic(dim)
                          ? indexOf(kernel_.getArgument(tensors + map[before++]))
                          : IndexExpr(dim));
  } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    shape = mixedValues(type.getShape(), empty.getDynamicSizes());
  } else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
    shape = shapeOf(dps.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get());
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    shape = shapeOf(pad.getSource());
    auto low = mixedValues(pad.getStaticLow(), pad.getLow());
    auto high = mixedValues(pad.getStaticHigh(), pad.getHigh());
    for (size_t i = 0; i < shape.size(); ++i)
      shape[i] = space_.add(shape[i], space_.add(low[i], high[i]));
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto sizes = mixedValues(slice.getStaticSizes(), slice.getSizes());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (size_t i = 0; i < sizes.size(); ++i)
      if (!dropped.test(i))
        shape.push_back(sizes[i]);
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    shape = shapeOf(concat.getInputs().front());
    for (Value input : concat.getInputs().drop_front())
      shape[concat.getDim()] = space_.add(shape[concat.getDim()], shapeOf(input)[concat.getDim()]);
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    shape = mixedValues(expand.getStaticOutputShape(), expand.getOutputShape());
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto source = shapeOf(collapse.getSrc());
    for (const auto &group : collapse.getReassociationIndices()) {
      IndexExpr product(1);
      for (int64_t dim : group)
        product = space_.mul(product, source[dim]);
      shape.push_back(product);
    }
  } else {
    fail(op);
    shape.assign(type.getRank(), IndexExpr(1));
  }
  shapes_[tensor] = shape;
  return shape;
}

/// Within a loop that takes so many rounds.
void KernelEvaluator::countRounds(const IndexExpr &trips) {
  if (trips.isConstant())
    rounds_ *= static_cast<double>(trips.constant);
  counts_.rounds += rounds_;
  if (trips.isConstant())
    return;
  const unsigned tensors = llvm::count_if(kernel_.getArgumentTypes(),
                                          [](Type type) { return isa<RankedTensorType>(type); });
  for (unsigned dim = 0; tensors + dim < kernel_.getNumArguments(); ++dim)
    if (const IndexExpr extent = indexOf(kernel_.getArgument(tensors + dim));
        !extent.isConstant() && space_.dependsOn(trips, extent.terms.front().first))
      counts_.loopDims.insert(dim);
}

llvm::SmallVector<IndexExpr> KernelEvaluator::loopExtents(linalg::GenericOp op) {
  llvm::SmallVector<IndexExpr> extents(op.getNumLoops(), IndexExpr(0));
  llvm::SmallBitVector known(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto shape = shapeOf(operand.get());
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && !known.test(dim.getPosition())) {
        known.set(dim.getPosition());
        extents[dim.getPosition()] = shape[i];
      }
    }
  }
  if (!known.all())
    fail(op);
  return extents;
}

} // namespace gantry::codegen

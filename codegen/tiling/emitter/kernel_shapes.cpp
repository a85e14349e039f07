// Implements kernel_shapes.h.
#include "codegen/tiling/emitter/kernel_shapes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kMaxDim = 1 << 30; // Upper limit on a dynamic dimension.

} // namespace

KernelShapes::KernelShapes(func::FuncOp kernel, IndexSpace &space, KernelSink &sink,
                           ValueRange dims)
    : kernel_(kernel), space_(space), sink_(sink), dimValues_(dims.begin(), dims.end()) {
  Operation *end = kernel.getBody().front().getTerminator();
  result_ = end->getOperand(0);
  if (end->getNumOperands() > 1)
    positions_ = end->getOperand(1);
  tensorCount_ = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
  const auto signature = attributeOf<SignatureAttr>(kernel);
  if (signature && !signature.getLayouts().empty())
    layouts_.assign(signature.getLayouts().begin(), signature.getLayouts().end());
  else
    layouts_.assign(tensorCount_ + 1, LayoutAttr::get(kernel.getContext(), {}));
}

int64_t multipleOf(func::FuncOp kernel, size_t dim) {
  const auto signature = attributeOf<SignatureAttr>(kernel);
  const llvm::ArrayRef<int64_t> multiples =
      signature ? signature.getDimMultiples() : llvm::ArrayRef<int64_t>();
  return dim < multiples.size() ? multiples[dim] : 1;
}

IndexExpr KernelShapes::indexOf(Value value) {
  if (auto found = indexValues_.find(value); found != indexValues_.end())
    return found->second;
  IndexExpr result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned position = argument.getArgNumber() - tensorCount_;
    const int64_t multiple = multipleOf(kernel_, position);
    result = space_.scale(
        space_.addVariable(position < dimValues_.size() ? dimValues_[position] : Value(), 1,
                           kMaxDim / multiple),
        multiple);
  } else if (auto constant = value.getDefiningOp<arith::ConstantIndexOp>()) {
    result = IndexExpr(constant.value());
  } else if (auto apply = value.getDefiningOp<affine::AffineApplyOp>()) {
    AffineMap map = apply.getAffineMap();
    IndexList operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(indexOf(operand));
    llvm::ArrayRef<IndexExpr> all(operands);
    result = space_.evaluate(map.getResult(0), all.take_front(map.getNumDims()),
                             all.drop_front(map.getNumDims()));
  } else {
    sink_.fail(value.getDefiningOp());
  }
  indexValues_[value] = result;
  return result;
}

IndexExpr KernelShapes::dim(unsigned position) {
  return indexOf(kernel_.getArgument(tensorCount_ + position));
}

IndexList KernelShapes::mixedValues(llvm::ArrayRef<int64_t> constants, ValueRange values) {
  IndexList result;
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

IndexList KernelShapes::shapeOf(Value tensor) {
  if (auto found = shapes_.find(tensor); found != shapes_.end())
    return found->second;
  auto shape = computeShape(tensor);
  shapes_[tensor] = shape;
  return shape;
}

llvm::SmallVector<int64_t> KernelShapes::divisorsOf(Value tensor) {
  llvm::SmallVector<int64_t> divisors;
  for (const IndexExpr &extent : shapeOf(tensor))
    divisors.push_back(space_.divisor(extent));
  return divisors;
}

IndexList KernelShapes::storageShape(unsigned buffer, Value tensor) {
  auto shape = shapeOf(tensor);
  // The buffer of a scatter has one dimension for its rows, whose number does not affect strides.
  if (positions_ && buffer == tensorCount_) {
    const int64_t outer = cast<RankedTensorType>(positions_.getType()).getRank();
    shape.erase(shape.begin() + 1, shape.begin() + outer);
  }
  for (auto [d, extent] : llvm::enumerate(layouts_[buffer].getWithin()))
    if (extent != -1)
      shape[d] = IndexExpr(extent);
  return shape;
}

IndexList KernelShapes::addressesOf(unsigned buffer, Value tensor, llvm::ArrayRef<Point> points) {
  const auto shape = storageShape(buffer, tensor);
  const LayoutAttr layout = layouts_[buffer];
  IndexList addresses, inStorage;
  for (const Point &point : points) {
    llvm::ArrayRef<IndexExpr> index(point.index);
    if (!layout.getSteps().empty()) {
      inStorage.assign(index.begin(), index.end());
      for (auto [coordinate, step] : llvm::zip(inStorage, layout.getSteps()))
        coordinate = space_.scale(coordinate, step);
      index = inStorage;
    }
    addresses.push_back(linearAddress(space_, layout.getParts(), shape, index));
    addresses.back().constant += layout.getStart();
  }
  return addresses;
}

/// Returns the shape of a tensor argument. The function's signature has, for each dynamic dimension
/// of the tensor arguments, the position of its size argument.
IndexList KernelShapes::argumentShape(BlockArgument argument) {
  auto map = attributeOf<SignatureAttr>(kernel_).getOperandDims();
  unsigned before = 0; // Dynamic dimensions of the arguments before this one.
  for (Type type : kernel_.getArgumentTypes().take_front(argument.getArgNumber()))
    if (auto ranked = dyn_cast<RankedTensorType>(type))
      before += ranked.getNumDynamicDims();
  IndexList shape;
  for (int64_t extent : cast<RankedTensorType>(argument.getType()).getShape())
    shape.push_back(ShapedType::isDynamic(extent) ? dim(map[before++]) : IndexExpr(extent));
  return shape;
}

IndexList KernelShapes::computeShape(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  IndexList shape;
  Operation *op = tensor.getDefiningOp();
  if (type.hasStaticShape()) {
    for (int64_t extent : type.getShape())
      shape.push_back(IndexExpr(extent));
  } else if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    return argumentShape(argument);
  } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    return mixedValues(type.getShape(), empty.getDynamicSizes());
  } else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
    return shapeOf(dps.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get());
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
    return mixedValues(expand.getStaticOutputShape(), expand.getOutputShape());
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto source = shapeOf(collapse.getSrc());
    for (const auto &group : collapse.getReassociationIndices()) {
      IndexExpr product(1);
      for (int64_t dim : group)
        product = space_.mul(product, source[dim]);
      shape.push_back(product);
    }
  } else {
    sink_.fail(op);
    shape.assign(type.getRank(), IndexExpr(1));
  }
  return shape;
}

IndexList KernelShapes::tileSpace(const TileShape &tile) {
  auto shape = shapeOf(result_);
  IndexList space(shape.begin(), shape.begin() + std::min<size_t>(tile.merged, shape.size()));
  if (tile.merged < shape.size()) {
    IndexExpr product(1);
    for (const IndexExpr &extent : llvm::drop_begin(shape, tile.merged))
      product = space_.mul(product, extent);
    space.push_back(product);
  }
  return space;
}

IndexList KernelShapes::loopExtents(linalg::GenericOp op) {
  IndexList extents(op.getNumLoops(), IndexExpr(0));
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
    sink_.fail(op);
  return extents;
}

LoopIndex KernelShapes::loopCoordinates(linalg::GenericOp op, AffineMap outputMap,
                                        const Point &point) {
  LoopIndex loops(op.getNumLoops(), IndexExpr(0));
  for (auto [i, expr] : llvm::enumerate(outputMap.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = point.index[i];
    else if (!isa<AffineConstantExpr>(expr))
      sink_.fail(op);
  }
  return loops;
}

Point KernelShapes::operandPoint(AffineMap map, llvm::ArrayRef<IndexExpr> loops, int32_t guard) {
  Point point;
  point.guard = guard;
  for (AffineExpr expr : map.getResults())
    point.index.push_back(space_.evaluate(expr, loops, {}));
  return point;
}

} // namespace gantry::codegen

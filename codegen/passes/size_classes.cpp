// Implements SizeClasses, which decides which sizes of tensors are padded.
#include "codegen/passes/size_classes.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/constant_bytes.h"
#include "codegen/passes/padding_value.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kVector = 4; // Elements of a vector.
constexpr int64_t kRun = 8;    // Columns that a lane computes in the fastest kernels of matmuls.
// A size that has been rounded up to a multiple of kVector is rounded up to a multiple of kRun if
// this makes it larger by at most this factor.
constexpr double kMaxGrowth = 1.1;
// The cost of a padded or sliced copy, in multiplications, is kCopyCost for each element and a
// fixed cost for its dispatch (kernel launch). For a software device, images are copied into blocks
// of channels in any case, so an element of an image costs only kBlocksCopyCost. The cost of a
// dispatch is the number of multiplications that the device executes in about 10 us.
constexpr double kCopyCost = 25, kBlocksCopyCost = 10;
constexpr double kSoftwareDispatchCost = 1e5, kGpuDispatchCost = 1e7;
// On a software device, a matmul takes longer by this fraction if the rows of its right operand do
// not begin at multiples of a vector, so that texel loads read vectors at any address. Measured for
// 128 x 256 x 63: the fraction is 0.13, and a padded copy takes 0.25 of the matmul's time. Such
// rows of the left operand, and a number of reduction steps that is no multiple of four, cost next
// to nothing.
constexpr double kOddRowsLoss = 0.15;

int64_t roundUpTo(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

/// Returns the smallest size from `size` on that kernels handle fast.
int64_t fastSize(int64_t size) {
  if (ShapedType::isDynamic(size) || size <= kVector)
    return size;
  const int64_t vectors = roundUpTo(size, kVector), runs = roundUpTo(size, kRun);
  return static_cast<double>(runs) <= kMaxGrowth * static_cast<double>(vectors) ? runs : vectors;
}

bool isSplat(Value tensor) {
  auto constant = tensor.getDefiningOp<arith::ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

/// Returns whether the tensor is a constant from which a constant of other sizes can be made.
bool isPaddable(Value tensor) {
  auto constant = tensor.getDefiningOp<arith::ConstantOp>();
  return isSplat(tensor) || (constant && typeOf(tensor).getElementTypeBitWidth() % 8 == 0 &&
                             !constantBytes(constant.getValue()).empty());
}

/// Returns whether the tensor is an uninitialized tensor or a fill of one, as the initial value of
/// an operator's result is.
bool isInitial(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return tensor.getDefiningOp<tensor::EmptyOp>() ||
         (fill && fill.getOutputs().front().getDefiningOp<tensor::EmptyOp>());
}

/// Returns the loop whose counter is the index; none for any other index.
std::optional<unsigned> loopOf(AffineExpr index) {
  auto dim = dyn_cast<AffineDimExpr>(index);
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

/// Returns the two tensors whose products a reduction sums, in floats or of 8-bit integers; none if
/// the operation is no such sum.
std::optional<std::pair<OpOperand *, OpOperand *>> productsOf(linalg::GenericOp op) {
  if (const auto bytes = byteFactorsOf(op))
    return std::pair{(*bytes)[0].operand, (*bytes)[1].operand};
  return factorsOf(op);
}

/// Returns whether an index of the map is the counter of the loop.
bool hasLoop(AffineMap map, unsigned loop) {
  return llvm::any_of(map.getResults(), [&](AffineExpr index) { return loopOf(index) == loop; });
}

} // namespace

SizeClasses::SizeClasses(Block &block, bool blocks) : blocks_(blocks) {
  for (Operation &op : block)
    addOperation(&op);
  classes_.resize(parents_.size());
  for (auto [tensor, node] : tensors_)
    for (auto [d, size] : llvm::enumerate(typeOf(tensor).getShape()))
      if (Class &known = classes_[find(node + static_cast<unsigned>(d))]; known.size == 0)
        known.size = size;
      else if (known.size != size)
        known.size = ShapedType::kDynamic;
  for (auto [op, node] : loops_)
    addGain(cast<linalg::GenericOp>(op));
  addConversions(block);
  choose();
}

unsigned SizeClasses::nodesOf(Value tensor) {
  auto [found, inserted] = tensors_.try_emplace(tensor, static_cast<unsigned>(parents_.size()));
  if (inserted)
    for (int64_t d = 0; d < typeOf(tensor).getRank(); ++d)
      parents_.push_back(static_cast<unsigned>(parents_.size()));
  return found->second;
}

unsigned SizeClasses::find(unsigned node) const {
  while (parents_[node] != node)
    node = parents_[node] = parents_[parents_[node]];
  return node;
}

/// Notes that dimension `dim` of the tensor has, at this use, the size of the node's class.
void SizeClasses::link(OpOperand &use, unsigned dim, unsigned node) {
  linkedUses_[{&use, dim}] = node;
  // Constants and initial values are made for each use, so their other uses do not matter.
  if (!isPaddable(use.get()) && !isInitial(use.get()))
    unite(nodesOf(use.get()) + dim, node);
}

/// Notes that dimension `dim` of an operator's result has the size of the node's class.
void SizeClasses::linkResult(Value result, unsigned dim, unsigned node) {
  linkedResults_[{result, dim}] = node;
  unite(nodesOf(result) + dim, node);
}

// ---- Links --------------------------------------------------------------------------------------

void SizeClasses::addOperation(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getNumResults() == 1)
      addGeneric(generic);
  } else if (isReshape(op)) {
    addReshape(op);
  } else if (isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::ConcatOp, ConcatOp>(op)) {
    addMove(op);
  }
}

void SizeClasses::addGeneric(linalg::GenericOp op) {
  const auto first = static_cast<unsigned>(parents_.size());
  loops_[op] = first;
  // An index that several loops determine, as in a window, allows none of them to grow.
  llvm::SmallBitVector fixed(op.getNumLoops());
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr index : map.getResults())
      if (!loopOf(index))
        index.walk([&](AffineExpr part) {
          if (auto loop = loopOf(part))
            fixed.set(*loop);
        });
  // If the body of a reduction uses a loop's index, additional steps of this loop could change the
  // result, so the loop keeps its size.
  op.walk([&](linalg::IndexOp index) {
    if (op.getNumReductionLoops() > 0)
      fixed.set(static_cast<unsigned>(index.getDim()));
  });
  // A splat constant would have its value in the padding too, which may not be zero, so a reduction
  // loop over it keeps its size.
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    for (OpOperand *use : op.getDpsInputOperands())
      if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel &&
          isSplat(use->get()) && op.getMatchingIndexingMap(use).isFunctionOfDim(loop))
        fixed.set(loop);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    parents_.push_back(first + loop);
  for (OpOperand &use : op->getOpOperands()) {
    if (!isTensor(use.get()))
      continue;
    for (auto [d, index] : llvm::enumerate(op.getMatchingIndexingMap(&use).getResults()))
      if (auto loop = loopOf(index); loop && !fixed.test(*loop))
        link(use, static_cast<unsigned>(d), first + *loop);
  }
  for (auto [d, index] : llvm::enumerate(op.getIndexingMapsArray().back().getResults()))
    if (auto loop = loopOf(index); loop && !fixed.test(*loop))
      linkResult(op.getResult(0), static_cast<unsigned>(d), first + *loop);
}

/// Links a dimension of a reshape's source with a dimension of its result if both have the same
/// index: all other dimensions of their group have the extent 1.
void SizeClasses::addReshape(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  const bool expands = isa<tensor::ExpandShapeOp>(op);
  if (!typeOf(source).hasStaticShape())
    return;
  const auto groups = expands ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
                              : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  auto wide = typeOf(expands ? result : source);
  for (auto [d, group] : llvm::enumerate(groups)) {
    std::optional<unsigned> only;
    unsigned count = 0;
    for (int64_t dim : group)
      if (wide.getDimSize(dim) != 1) {
        only = static_cast<unsigned>(dim);
        ++count;
      }
    if (count != 1)
      continue;
    const auto narrow = static_cast<unsigned>(d);
    const unsigned from = expands ? narrow : *only, to = expands ? *only : narrow;
    linkResult(result, to, nodesOf(source) + from);
    link(op->getOpOperand(0), from, nodesOf(result) + to);
  }
}

/// Links the dimensions of the operands and of the result of a pad, a slice or a concatenation
/// along which the operation neither moves nor adds nor drops elements.
void SizeClasses::addMove(Operation *op) {
  Value result = op->getResult(0);
  const int64_t rank = typeOf(result).getRank();
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  auto pad = dyn_cast<tensor::PadOp>(op);
  std::optional<uint64_t> joined; // The dimension of a concatenation.
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    joined = concat.getDim();
  else if (auto view = dyn_cast<ConcatOp>(op))
    joined = view.getDim();
  if (!typeOf(op->getOperand(0)).hasStaticShape() || !typeOf(result).hasStaticShape() ||
      typeOf(op->getOperand(0)).getRank() != rank || (pad && !pad.getConstantPaddingValue()))
    return;
  for (unsigned d = 0; d < rank; ++d) {
    const bool moves =
        joined ? d == *joined
               : typeOf(op->getOperand(0)).getDimSize(d) != typeOf(result).getDimSize(d);
    if (moves || (slice && (slice.isDynamicOffset(d) || slice.getStaticOffset(d) != 0)))
      continue;
    linkResult(result, d, nodesOf(result) + d);
    for (OpOperand &use : op->getOpOperands())
      if (isTensor(use.get()))
        link(use, d, nodesOf(result) + d);
  }
}

// ---- Decisions ----------------------------------------------------------------------------------

/// Returns whether kernels with texel loads need no padding for the matmul `op` with the factors
/// `a` and `b`: they read rows at any address as vectors, and compute any number of reduction
/// steps. This holds for a matmul of floats, with or without a batch, whose factors are no images.
/// It does not hold for bytes, which are read as words of four that begin at multiples of four.
static bool readsOddRows(linalg::GenericOp op, OpOperand *a, OpOperand *b) {
  for (auto [factor, other] : {std::pair{a, b}, std::pair{b, a}}) {
    const AffineMap map = op.getMatchingIndexingMap(factor);
    auto type = typeOf(factor->get());
    const bool hasBatch = type.getRank() == 3 &&
                          op.getMatchingIndexingMap(other).getNumResults() == 3 &&
                          map.getResult(0) == op.getMatchingIndexingMap(other).getResult(0);
    if (!isa<FloatType>(type.getElementType()) ||
        !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        (type.getRank() != 2 && !hasBatch))
      return false;
  }
  return op.getNumReductionLoops() == 1 && !ShapedType::isDynamic(reductionExtentsOf(op).front());
}

/// Adds the number of products of a matmul or convolution to the gain of the classes of the loops
/// whose size matters: the reduction loops over both factors, and the loop over the columns of the
/// result or its channels.
void SizeClasses::addGain(linalg::GenericOp op) {
  const unsigned first = loops_[op];
  const auto iterators = op.getIteratorTypesArray();
  const auto factors = productsOf(op);
  double products = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    products *= assumedExtent(extent);
  const bool fitsOddRows = blocks_ && factors && readsOddRows(op, factors->first, factors->second);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (iterators[loop] == utils::IteratorType::parallel)
      continue;
    Class &reduced = classes_[find(first + loop)];
    reduced.needsZeros |= !ignoresZeros(op, loop, /*onlyOfConstants=*/true);
    reduced.isFixed |= !ignoresZeros(op, loop);
    if (factors && !fitsOddRows && hasLoop(op.getMatchingIndexingMap(factors->first), loop) &&
        hasLoop(op.getMatchingIndexingMap(factors->second), loop))
      reduced.gain += products;
  }
  const AffineMap result = op.getIndexingMapsArray().back();
  if (!factors || result.getNumResults() == 0)
    return;
  OpOperand *filter = nullptr; // The constant factor.
  bool windows = false;
  for (OpOperand *factor : {factors->first, factors->second}) {
    if (factor->get().getDefiningOp<arith::ConstantOp>())
      filter = factor;
    windows |=
        !op.getMatchingIndexingMap(factor).isProjectedPermutation(/*allowZeroInResults=*/true);
  }
  // Adds the gain for index `position` of the result if the index is a loop over the filter's
  // channels. Without a filter, adds it if `withoutFilter` is set.
  const auto addIf = [&](unsigned position, bool withoutFilter) {
    const auto loop = loopOf(result.getResult(position));
    if (loop && (filter ? hasLoop(op.getMatchingIndexingMap(filter), *loop) : withoutFilter))
      classes_[find(first + *loop)].gain += products * (fitsOddRows ? kOddRowsLoss : 1);
  };
  addIf(result.getNumResults() - 1, !windows);
  if (result.getNumResults() >= 3)
    addIf(1, windows);
}

/// Adds to the classes the costs of the slices and padded copies that convert between sizes.
void SizeClasses::addConversions(Block &block) {
  const auto add = [&](Value tensor, unsigned dim) {
    const bool isImage = typeOf(tensor).getRank() >= 3 && dim == 1;
    classes_[find(tensors_.lookup(tensor) + dim)].cost +=
        assumedElements(typeOf(tensor)) * (blocks_ && isImage ? kBlocksCopyCost : kCopyCost) +
        (blocks_ ? kSoftwareDispatchCost : kGpuDispatchCost);
  };
  for (auto [tensor, node] : tensors_) {
    for (unsigned d = 0; d < typeOf(tensor).getRank(); ++d) {
      if (!linkedResults_.contains({tensor, d})) {
        add(tensor, d); // Its users read a padded copy.
        continue;
      }
      const auto isExact = [&](OpOperand &use) {
        return !isa<tensor::DimOp>(use.getOwner()) && !linkedUses_.contains({&use, d});
      };
      // If all users of a reduction's result read a slice of it, only the slice is stored, so the
      // conversion costs nothing.
      auto sum = tensor.getDefiningOp<linalg::GenericOp>();
      const bool storesSlice =
          sum && sum.getNumReductionLoops() > 0 && llvm::all_of(tensor.getUses(), isExact);
      if (!storesSlice && llvm::any_of(tensor.getUses(), isExact))
        add(tensor, d);
    }
  }
}

void SizeClasses::choose() {
  for (Class &each : classes_) {
    each.padded = each.size;
    if (each.isFixed || each.gain <= each.cost || ShapedType::isDynamic(each.size))
      continue;
    each.padded = fastSize(each.size);
    anyPadded_ |= each.padded != each.size;
  }
}

llvm::SmallVector<int64_t> SizeClasses::sizesOf(OpOperand &use) const {
  llvm::SmallVector<int64_t> sizes(typeOf(use.get()).getShape());
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (auto found = linkedUses_.find({&use, d}); found != linkedUses_.end())
      sizes[d] += growthOf(found->second);
  return sizes;
}

llvm::SmallVector<int64_t> SizeClasses::sizesOf(Value result) const {
  llvm::SmallVector<int64_t> sizes(typeOf(result).getShape());
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (auto found = linkedResults_.find({result, d}); found != linkedResults_.end())
      sizes[d] += growthOf(found->second);
  return sizes;
}

bool SizeClasses::isPadded(linalg::GenericOp op, unsigned loop) const {
  return growthOf(loops_.lookup(op) + loop) > 0;
}

bool SizeClasses::needsZeros(Value tensor) const {
  for (unsigned d = 0; d < typeOf(tensor).getRank(); ++d)
    if (auto found = linkedResults_.find({tensor, d}); found != linkedResults_.end())
      if (growthOf(found->second) > 0 && classes_[find(found->second)].needsZeros)
        return true;
  return false;
}

} // namespace gantry::codegen

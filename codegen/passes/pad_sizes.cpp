// Implements the pass pad-sizes (Passes.td), which rounds the sizes of matmuls and convolutions up
// to multiples of four or eight. size_classes.h decides which sizes change; this file rewrites the
// operators.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/constant_bytes.h"
#include "codegen/passes/padding_value.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/size_classes.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cstring>
#include <map>
#include <optional>

namespace gantry::codegen {

#define GEN_PASS_DEF_PADSIZES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

using Shape = llvm::SmallVector<int64_t>;

/// Copies the elements of a constant to the same indices of a larger shape. All other bytes of
/// `target` become zero.
void copyIntoCorner(llvm::ArrayRef<char> source, llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<int64_t> padded, size_t elementBytes,
                    llvm::MutableArrayRef<char> target) {
  std::memset(target.data(), 0, target.size());
  const size_t row = static_cast<size_t>(shape.back()) * elementBytes;
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (size_t from = 0; from < source.size(); from += row) {
    int64_t to = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      to = to * padded[d] + index[d];
    std::memcpy(target.data() + static_cast<size_t>(to) * elementBytes, source.data() + from, row);
    for (size_t d = shape.size() - 1; d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// Rewrites the operators of a function for the sizes that SizeClasses chose.
class Padder {
public:
  Padder(func::FuncOp function, const SizeClasses &classes)
      : block_(function.getBody().front()), classes_(classes) {}

  void run() {
    hoistArgumentDims(block_); // Padded copies of the function's arguments need their sizes.
    llvm::SmallVector<Operation *> operations;
    for (Operation &op : block_)
      operations.push_back(&op);
    for (Operation *op : operations)
      rewrite(op);
    for (Operation *op : llvm::reverse(operations))
      if (replaced_.contains(op) || isOpTriviallyDead(op))
        op->erase();
    readInPlaceOfCopies();
  }

private:
  /// A tensor of the new program: it has the elements of a tensor of the old program at the same
  /// indices, and padding at the others.
  struct Padded {
    Value value;
    bool isZero = true; // The padding is certain to be zero.
  };

  /// Returns the version of a tensor of the old program that has the given sizes. Makes it if there
  /// is none yet.
  Padded get(OpBuilder &builder, Value tensor, llvm::ArrayRef<int64_t> shape) {
    auto &known = versions_[tensor];
    if (known.empty())
      known[Shape(typeOf(tensor).getShape())] = {tensor};
    if (auto found = known.find(Shape(shape)); found != known.end())
      return found->second;
    OpBuilder::InsertionGuard guard(builder);
    if (auto constant = tensor.getDefiningOp<arith::ConstantOp>())
      if (std::optional<Padded> padded = padConstant(constant, shape))
        return known[Shape(shape)] = *padded;
    const Padded own = original(tensor);
    // The copy of an argument stays at the builder's position. At the start of the block, it would
    // come before the tensor.dim operations that give its sizes.
    if (own.value.getDefiningOp() != nullptr)
      builder.setInsertionPointAfterValue(own.value);
    return known[Shape(shape)] = resize(builder, own, shape);
  }

  /// Returns the version of a tensor that its operator computes in the new program.
  Padded original(Value tensor) {
    auto found = computed_.find(tensor);
    return found == computed_.end() ? Padded{tensor} : found->second;
  }

  /// Returns a copy of a constant with zeros beyond its own sizes, or a larger splat; none if it
  /// cannot be copied.
  static std::optional<Padded> padConstant(arith::ConstantOp constant,
                                           llvm::ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(constant.getType());
    const unsigned bits = type.getElementTypeBitWidth();
    auto paddedType = RankedTensorType::get(shape, type.getElementType());
    OpBuilder builder(constant);
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) {
      Value padded = builder.create<arith::ConstantOp>(constant.getLoc(), paddedType,
                                                       splat.resizeSplat(paddedType));
      return Padded{padded, splatOf(padded) == 0.0};
    }
    const llvm::ArrayRef<char> bytes = constantBytes(constant.getValue());
    if (bytes.empty() || bits % 8 != 0 || !paddedType.hasStaticShape() ||
        llvm::any_of(llvm::zip(shape, type.getShape()),
                     [](auto sizes) { return std::get<0>(sizes) < std::get<1>(sizes); }))
      return std::nullopt;
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
        static_cast<size_t>(paddedType.getNumElements()) * (bits / 8), 64);
    copyIntoCorner(bytes, type.getShape(), shape, bits / 8, blob.getMutableData());
    auto padded = builder.create<arith::ConstantOp>(
        constant.getLoc(), paddedType,
        DenseResourceElementsAttr::get(paddedType, "padded", std::move(blob)));
    copyTensorName(constant, padded);
    return Padded{padded};
  }

  /// Returns a version of `from` with this shape: a slice, a padded copy, or a padded copy of a
  /// slice.
  Padded resize(OpBuilder &builder, Padded from, llvm::ArrayRef<int64_t> shape) {
    const Location loc = from.value.getLoc();
    Shape slice(typeOf(from.value).getShape()), high(shape.size(), 0);
    bool cuts = false, grows = false;
    for (auto [d, size] : llvm::enumerate(shape)) {
      cuts |= size < slice[d];
      grows |= size > slice[d];
      high[d] = std::max<int64_t>(size - slice[d], 0);
      slice[d] = ShapedType::isDynamic(size) ? size : std::min(size, slice[d]);
    }
    Value value = from.value;
    if (cuts)
      value = sliceOf(builder, loc, value, slice);
    if (!grows)
      return {value, from.isZero};
    const Type element = typeOf(value).getElementType();
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(element));
    llvm::SmallVector<OpFoldResult> low(shape.size(), builder.getIndexAttr(0)), above;
    for (int64_t size : high)
      above.push_back(builder.getIndexAttr(size));
    auto type = RankedTensorType::get(shape, element);
    Value padded = builder.create<tensor::PadOp>(loc, type, value, low, above, zero);
    Value copy = copyTensor(builder, loc, padded);
    setStored(copy.getDefiningOp());
    copy.getDefiningOp()->setDiscardableAttr(
        GantryDialect::WhyAttrHelper::getNameStr(),
        builder.getStringAttr("its sizes are rounded up, so that a kernel reads whole vectors"));
    copies_.push_back(copy.getDefiningOp<linalg::GenericOp>());
    return {copy, from.isZero};
  }

  /// Marks an operator whose result must be stored in memory, so that it is never inlined.
  static void setStored(Operation *op) {
    op->setDiscardableAttr(GantryDialect::StoredAttrHelper::getNameStr(),
                           UnitAttr::get(op->getContext()));
  }

  /// Drops the padded copies that only elementwise operators read: these operators then evaluate
  /// the tensor.pad while they read. Their results are stored (gantry.stored), because a reduction
  /// that evaluated such an operator inline would evaluate the pad too.
  void readInPlaceOfCopies() {
    for (linalg::GenericOp copy : copies_) {
      const auto isReader = [](Operation *user) {
        auto generic = dyn_cast<linalg::GenericOp>(user);
        return generic && isElementwise(generic);
      };
      if (!llvm::all_of(copy->getUsers(), isReader))
        continue;
      for (Operation *user : copy->getUsers())
        setStored(user);
      copy.getResult(0).replaceAllUsesWith(copy.getInputs().front());
      copy.erase();
    }
  }

  /// Returns the slice of the tensor that has this shape and begins at index 0 in each dimension.
  static Value sliceOf(OpBuilder &builder, Location loc, Value tensor,
                       llvm::ArrayRef<int64_t> shape) {
    const auto dims = tensorDims(builder, tensor);
    llvm::SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
        strides(shape.size(), builder.getIndexAttr(1)), sizes;
    for (auto [size, dim] : llvm::zip(shape, dims))
      sizes.push_back(ShapedType::isDynamic(size) ? dim : builder.getIndexAttr(size));
    return builder.create<tensor::ExtractSliceOp>(
        loc, RankedTensorType::get(shape, typeOf(tensor).getElementType()), tensor, offsets, sizes,
        strides);
  }

  /// Rewrites one operation: makes its result larger, or gives it operands with the sizes it needs.
  void rewrite(Operation *op) {
    if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
        classes_.sizesOf(op->getResult(0)) != Shape(typeOf(op->getResult(0)).getShape()) &&
        !isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp>(op))
      return rebuild(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && llvm::any_of(op->getOpOperands(), [&](OpOperand &use) {
          return isa<RankedTensorType>(use.get().getType()) &&
                 classes_.sizesOf(use) != Shape(typeOf(use.get()).getShape());
        }))
      return rebuild(op); // The sizes of its reduction loops change.
    // The operation stays. It gets versions of its operands without padding.
    OpBuilder builder(op);
    op->walk([&](Operation *inner) {
      for (OpOperand &use : inner->getOpOperands())
        if (computed_.contains(use.get()))
          use.set(isa<tensor::DimOp>(inner)
                      ? original(use.get()).value
                      : get(builder, use.get(), typeOf(use.get()).getShape()).value);
    });
  }

  /// Replaces the operation by one whose operands and result have the sizes that SizeClasses chose.
  void rebuild(Operation *op) {
    OpBuilder builder(op);
    Padded result;
    const Shape shape = classes_.sizesOf(op->getResult(0));
    auto type = RankedTensorType::get(shape, typeOf(op->getResult(0)).getElementType());
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      result = rebuildGeneric(builder, generic, type);
    } else {
      // The operation is a reshape, pad, slice or concatenation: the padding of its result consists
      // of the padding of its operands.
      IRMapping mapping;
      for (OpOperand &use : op->getOpOperands()) {
        if (!isa<RankedTensorType>(use.get().getType()))
          continue;
        const Padded operand = get(builder, use.get(), classes_.sizesOf(use));
        result.isZero &= operand.isZero;
        mapping.map(use.get(), operand.value);
      }
      Operation *rebuilt = builder.clone(*op, mapping);
      rebuilt->getResult(0).setType(type);
      setStaticSizes(rebuilt, type);
      result.value = rebuilt->getResult(0);
      if (auto pad = dyn_cast<tensor::PadOp>(rebuilt))
        result.isZero &= isZero(pad.getConstantPaddingValue());
    }
    if (!result.isZero && classes_.needsZeros(op->getResult(0)))
      result = {mask(builder, result.value, typeOf(op->getResult(0)).getShape()), true};
    computed_[op->getResult(0)] = result;
    versions_[op->getResult(0)][shape] = result;
    replaced_.insert(op);
  }

  static bool isZero(Value value) {
    auto constant = value ? value.getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
    return constant && (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()));
  }

  /// Sets the sizes that the operation has as attributes to those of its new type.
  static void setStaticSizes(Operation *op, RankedTensorType type) {
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      expand.setStaticOutputShape(type.getShape());
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      slice.setStaticSizes(type.getShape());
  }

  Padded rebuildGeneric(OpBuilder &builder, linalg::GenericOp op, RankedTensorType type) {
    const Location loc = op.getLoc();
    llvm::SmallVector<Padded> operands;
    llvm::SmallVector<Value> inputs;
    for (OpOperand *use : op.getDpsInputOperands()) {
      operands.push_back(isa<RankedTensorType>(use->get().getType())
                             ? get(builder, use->get(), classes_.sizesOf(*use))
                             : Padded{use->get()});
      inputs.push_back(operands.back().value);
    }
    operands.push_back(initOf(builder, op, type));
    auto rebuilt =
        builder.create<linalg::GenericOp>(loc, type, inputs, operands.back().value,
                                          op.getIndexingMapsArray(), op.getIteratorTypesArray());
    IRMapping mapping;
    op.getRegion().cloneInto(&rebuilt.getRegion(), mapping);
    rebuilt.getRegion().walk([&](Operation *inner) {
      for (OpOperand &use : inner->getOpOperands())
        if (computed_.contains(use.get()))
          use.set(get(builder, use.get(), typeOf(use.get()).getShape()).value);
    });
    rebuilt->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return {rebuilt.getResult(0), hasZeroPadding(op, operands)};
  }

  /// Returns the initial value of an operator's result with other sizes.
  Padded initOf(OpBuilder &builder, linalg::GenericOp op, RankedTensorType type) {
    OpOperand &use = *op.getDpsInitsMutable().begin();
    const auto empty = [&](Value like) -> Value {
      llvm::SmallVector<OpFoldResult> sizes = tensorDims(builder, like);
      for (auto [d, size] : llvm::enumerate(type.getShape()))
        if (!ShapedType::isDynamic(size))
          sizes[d] = builder.getIndexAttr(size);
      return builder.create<tensor::EmptyOp>(op.getLoc(), sizes, type.getElementType());
    };
    if (auto fill = use.get().getDefiningOp<linalg::FillOp>()) {
      Value filled = builder
                         .create<linalg::FillOp>(op.getLoc(), fill.getInputs(),
                                                 ValueRange{empty(fill.getOutputs().front())})
                         .getResult(0);
      return {filled, isZero(fill.getInputs().front())};
    }
    if (use.get().getDefiningOp<tensor::EmptyOp>())
      return {empty(use.get())};
    return get(builder, use.get(), type.getShape());
  }

  /// Returns whether all elements in the padding of the operator's result are zero: the operator
  /// computes zero wherever the counter of a padded parallel loop is beyond the original size.
  bool hasZeroPadding(linalg::GenericOp op, llvm::ArrayRef<Padded> operands) const {
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel ||
          !classes_.isPadded(op, loop))
        continue;
      llvm::SmallVector<std::optional<double>> values;
      for (auto [use, operand] : llvm::zip(op->getOpOperands(), operands)) {
        const bool inPadding = op.getMatchingIndexingMap(&use).isFunctionOfDim(loop);
        values.push_back(inPadding && operand.isZero ? std::optional<double>(0.0)
                                                     : splatOf(operand.value));
      }
      if (op.getNumReductionLoops() > 0 && !operands.back().isZero)
        values.back() = std::nullopt;
      const std::optional<double> result = evaluateBody(op, values);
      if (result != 0.0)
        return false;
    }
    return true;
  }

  /// Returns the value of a splat constant; none for any other value.
  static std::optional<double> splatOf(Value value) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    if (!splat)
      return std::nullopt;
    if (isa<FloatType>(splat.getElementType()))
      return splat.getSplatValue<APFloat>().convertToDouble();
    return static_cast<double>(splat.getSplatValue<APInt>().getSExtValue());
  }

  /// Creates an operator that replaces the padding by zeros. shape: the sizes without padding.
  static Value mask(OpBuilder &builder, Value tensor, llvm::ArrayRef<int64_t> shape) {
    const Location loc = tensor.getLoc();
    auto type = typeOf(tensor);
    Value empty =
        builder.create<tensor::EmptyOp>(loc, tensorDims(builder, tensor), type.getElementType());
    AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
    llvm::SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    return builder
        .create<linalg::GenericOp>(
            loc, TypeRange(type), tensor, empty, llvm::ArrayRef{identity, identity}, loops,
            [&](OpBuilder &at, Location inner, ValueRange values) {
              Value inside;
              for (auto [d, size] : llvm::enumerate(shape)) {
                if (size == type.getDimSize(d))
                  continue;
                Value index = at.create<linalg::IndexOp>(inner, static_cast<int64_t>(d));
                Value limit = at.create<arith::ConstantIndexOp>(inner, size);
                Value here =
                    at.create<arith::CmpIOp>(inner, arith::CmpIPredicate::ult, index, limit);
                inside = inside ? at.create<arith::AndIOp>(inner, inside, here).getResult() : here;
              }
              Value zero =
                  at.create<arith::ConstantOp>(inner, at.getZeroAttr(type.getElementType()));
              at.create<linalg::YieldOp>(
                  inner,
                  at.create<arith::SelectOp>(inner, inside, values.front(), zero).getResult());
            })
        .getResult(0);
  }

  Block &block_;
  const SizeClasses &classes_;
  llvm::DenseMap<Value, Padded> computed_; // The results of rebuilt operators, by the old results.
  llvm::DenseMap<Value, std::map<Shape, Padded>> versions_; // By the old tensor and the sizes.
  llvm::DenseSet<Operation *> replaced_;
  llvm::SmallVector<linalg::GenericOp> copies_; // Padded copies of tensors.
};

struct PadSizesPass : impl::PadSizesBase<PadSizesPass> {
  using PadSizesBase::PadSizesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    const SizeClasses classes(function.getBody().front(), blocks);
    if (classes.anyPadded())
      Padder(function, classes).run();
  }
};

} // namespace
} // namespace gantry::codegen

// Implements the pass place-pads (Passes.td). It lets an operator write into the interior of a
// tensor with a constant border.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PLACEPADS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns whether a reduction computes the tensor, or an elementwise operator that the reduction's
/// kernel applies to its result.
bool isReduced(Value tensor) {
  while (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
    if (generic.getNumReductionLoops() > 0)
      return true;
    const auto reduced = llvm::find_if(generic.getInputs(), [](Value input) {
      return input.hasOneUse() && input.getDefiningOp<linalg::GenericOp>();
    });
    if (reduced == generic.getInputs().end())
      return false;
    tensor = *reduced;
  }
  return false;
}

struct PlacePadsPass : impl::PlacePadsBase<PlacePadsPass> {
  using PlacePadsBase::PlacePadsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (tensor::PadOp pad : llvm::make_early_inc_range(function.getOps<tensor::PadOp>()))
      if (isStored(pad) && isReduced(pad.getSource()) && pays(pad))
        place(pad);
  }

  /// Returns whether the padded tensor is stored, and the pad's source has no other reader.
  static bool isStored(tensor::PadOp pad) {
    const Value padding = pad.getConstantPaddingValue(); // Null if it depends on the index.
    return pad.getType().hasStaticShape() && pad.getSourceType().hasStaticShape() && padding &&
           matchPattern(padding, m_Constant()) && pad.getSource().hasOneUse() &&
           llvm::any_of(pad->getUsers(), [](Operation *user) {
             return isa<func::ReturnOp>(user) || isReshape(user);
           });
  }

  /// Returns whether filling the border costs less than copying the whole tensor.
  bool pays(tensor::PadOp pad) const {
    const auto all = static_cast<double>(pad.getType().getNumElements());
    const auto inner = static_cast<double>(pad.getSourceType().getNumElements());
    const auto isPadded = [](int64_t size) { return size != 0; };
    const auto fills = static_cast<double>(llvm::count_if(pad.getStaticLow(), isPadded) +
                                           llvm::count_if(pad.getStaticHigh(), isPadded));
    const double view = fills * dispatch + (all - inner) + kOddRowAccess * inner;
    return inner > 0 && view < dispatch + all;
  }

  /// Replaces the pad by concatenations of its source with fills, along one dimension after
  /// another. The last dimension comes first, so that the other fills consist of whole rows.
  static void place(tensor::PadOp pad) {
    OpBuilder builder(pad);
    Value result = pad.getSource();
    for (int64_t d = pad.getType().getRank(); d-- > 0;) {
      const int64_t low = pad.getStaticLow()[d], high = pad.getStaticHigh()[d];
      if (low == 0 && high == 0)
        continue;
      llvm::SmallVector<Value> parts;
      if (low != 0)
        parts.push_back(fill(builder, pad, result, d, low));
      parts.push_back(result);
      if (high != 0)
        parts.push_back(fill(builder, pad, result, d, high));
      result = builder.create<tensor::ConcatOp>(pad.getLoc(), d, parts);
    }
    copyTensorName(pad, result.getDefiningOp());
    pad.getResult().replaceAllUsesWith(result);
    pad.erase();
  }

  /// Returns a tensor of padding with the shape of `inner`, but `extent` elements along a
  /// dimension.
  static Value fill(OpBuilder &builder, tensor::PadOp pad, Value inner, int64_t dim,
                    int64_t extent) {
    const Location loc = pad.getLoc();
    auto type = cast<RankedTensorType>(inner.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[dim] = extent;
    type = type.clone(shape);
    Value empty = builder.create<tensor::EmptyOp>(loc, shape, type.getElementType());
    Operation *constant = pad.getConstantPaddingValue().getDefiningOp();
    llvm::SmallVector<utils::IteratorType> loops(shape.size(), utils::IteratorType::parallel);
    auto filled = builder.create<linalg::GenericOp>(
        loc, TypeRange(type), ValueRange(), empty,
        builder.getMultiDimIdentityMap(static_cast<unsigned>(shape.size())), loops,
        [&](OpBuilder &at, Location inside, ValueRange) {
          at.create<linalg::YieldOp>(inside, at.clone(*constant)->getResult(0));
        });
    filled->setDiscardableAttr(GantryDialect::StoredAttrHelper::getNameStr(),
                               builder.getUnitAttr());
    return filled.getResult(0);
  }
};

} // namespace
} // namespace gantry::codegen

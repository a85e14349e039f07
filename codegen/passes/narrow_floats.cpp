// Implements the pass narrow-floats (Passes.td), which stores constants, and the tensors between
// dispatches (kernel launches), as f16 instead of f32. Dispatches still compute in f32.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/constant_bytes.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <cstring>

namespace gantry::codegen {

#define GEN_PASS_DEF_NARROWFLOATS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

bool isFloat32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

RankedTensorType halfOf(Value value) {
  return cast<RankedTensorType>(value.getType()).clone(Float16Type::get(value.getContext()));
}

/// Returns the bits of the nearest f16. A finite number stays finite: a mask of -1e9, for example,
/// must not become infinite.
uint16_t halfBits(float value) {
  APFloat number(value);
  bool ignored = false;
  number.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &ignored);
  if (number.isInfinity() && std::isfinite(value))
    number = APFloat::getLargest(APFloat::IEEEhalf(), value < 0);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

bool haveAsManyElements(RankedTensorType a, RankedTensorType b) {
  return a.hasStaticShape() && b.hasStaticShape() ? a.getNumElements() == b.getNumElements()
                                                  : a.getShape() == b.getShape();
}

/// Returns whether each element of a dispatch's result is made from its own sum of elements or of
/// squares, as a mean or a variance is. A sum of products of two tensors does not count. The result
/// of such a dispatch stays f32: a sum of elements grows with their number, and if only a later
/// dispatch divides it, it could overflow f16. Tensors of such sums are small, so f32 costs little
/// memory.
bool givesSums(DispatchOp dispatch) {
  auto result = cast<RankedTensorType>(dispatch.getResult().getType());
  auto isSum = [&](linalg::GenericOp op) {
    auto sum = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
    if (op.getNumReductionLoops() == 0 || !sum ||
        !haveAsManyElements(cast<RankedTensorType>(op.getResult(0).getType()), result))
      return false;
    const Value accumulator = op.getRegionOutputArgs().front();
    const Value term = sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs();
    auto product = term.getDefiningOp<arith::MulFOp>();
    return !product || product.getLhs() == product.getRhs();
  };
  auto found = dispatch.walk([&](linalg::GenericOp op) {
    return isSum(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

struct NarrowFloatsPass : impl::NarrowFloatsBase<NarrowFloatsPass> {
  /// Adds to `values` the value and all tensors that must have the same element type: its views,
  /// the tensors that share its storage in a concatenation, and the operands and results of the
  /// scatters that replace its rows in place. Returns false if an operation other than a dispatch,
  /// a view or a concatenation uses one of them, or if one must stay f32.
  static bool collect(Value value, llvm::SetVector<Value> &values) {
    if (!values.insert(value))
      return true;
    Operation *producer = value.getDefiningOp();
    auto dispatch = dyn_cast_or_null<DispatchOp>(producer);
    if (!producer || (dispatch && givesSums(dispatch)))
      return false;
    if (dispatch && dispatch.getScattered() &&
        !collect(dispatch.getInputs()[*dispatch.getInPlace()], values))
      return false;
    if (isReshape(producer) && !collect(producer->getOperand(0), values))
      return false;
    if (auto concat = dyn_cast_or_null<ConcatOp>(producer))
      for (Value input : concat.getInputs())
        if (!collect(input, values))
          return false;
    for (OpOperand &use : value.getUses())
      if (auto user = dyn_cast<DispatchOp>(use.getOwner());
          user && user.getScattered() && user.getInPlace() == use.getOperandNumber() &&
          !collect(user.getResult(), values))
        return false;
    for (Operation *user : value.getUsers())
      if (!isa<DispatchOp>(user) &&
          !((isReshape(user) || isa<ConcatOp>(user)) && collect(user->getResult(0), values)))
        return false;
    return true;
  }

  /// Builds an elementwise conversion of a tensor in a dispatch's region to `type`. dims: for each
  /// dynamic size of the tensor, its index among the dims of the dispatch.
  static Value convert(OpBuilder &builder, DispatchOp dispatch, Value tensor, RankedTensorType type,
                       ArrayRef<int64_t> dims) {
    Location loc = dispatch.getLoc();
    Block &body = dispatch.getBody().front();
    llvm::SmallVector<Value> sizes;
    for (int64_t dim : dims)
      sizes.push_back(body.getArgument(dispatch.getInputs().size() + dim));
    Value empty =
        builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType(), sizes);
    AffineMap identity = AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext());
    llvm::SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
    return builder
        .create<linalg::GenericOp>(
            loc, TypeRange{type}, tensor, empty, ArrayRef{identity, identity}, parallel,
            [&](OpBuilder &inner, Location at, ValueRange arguments) {
              Type element = type.getElementType();
              Value converted =
                  element.isF16()
                      ? inner.create<arith::TruncFOp>(at, element, arguments[0]).getResult()
                      : inner.create<arith::ExtFOp>(at, element, arguments[0]).getResult();
              inner.create<linalg::YieldOp>(at, converted);
            })
        .getResult(0);
  }

  /// Changes a constant from f32 to f16.
  void narrowConstant(arith::ConstantOp constant) {
    auto type = halfOf(constant.getResult());
    llvm::ArrayRef<char> bytes = constantBytes(constant.getValue());
    const size_t count = bytes.size() / sizeof(float);
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(count * sizeof(uint16_t), 64);
    char *target = blob.getMutableData().data();
    for (size_t i = 0; i < count; ++i) {
      float value = 0;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      const uint16_t half = halfBits(value);
      std::memcpy(target + i * sizeof half, &half, sizeof half);
    }
    constant.setValueAttr(DenseResourceElementsAttr::get(type, "narrow", std::move(blob)));
    constant.getResult().setType(type);
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    llvm::DenseSet<Value> narrow;
    llvm::SmallVector<DispatchOp> makers;
    for (Operation &op : function.getBody().front()) {
      auto dispatch = dyn_cast<DispatchOp>(op);
      auto constant = dyn_cast<arith::ConstantOp>(op);
      if ((!dispatch && !constant) || !isFloat32(op.getResult(0)) || op.use_empty())
        continue;
      llvm::SetVector<Value> values;
      if (!collect(op.getResult(0), values) ||
          (constant && constantBytes(constant.getValue()).empty()))
        continue;
      narrow.insert(values.begin(), values.end());
      if (constant) {
        narrowConstant(constant);
        values.remove(constant.getResult());
      }
      for (Value value : values) {
        if (auto maker = value.getDefiningOp<DispatchOp>())
          makers.push_back(maker);
        value.setType(halfOf(value));
      }
    }

    OpBuilder builder(&getContext());
    for (DispatchOp dispatch : makers) {
      auto yield = cast<YieldOp>(dispatch.getBody().front().getTerminator());
      builder.setInsertionPoint(yield);
      llvm::SmallVector<int64_t> dims(dispatch.getResultDims());
      // The region of a scatter (a dispatch that replaces rows of an operand) yields the new rows.
      // Instead of the first dimension of the dispatch's result, they have the dimensions that the
      // attribute `scattered` lists.
      if (dispatch.getScattered()) {
        if (cast<RankedTensorType>(dispatch.getResult().getType()).isDynamicDim(0))
          dims.erase(dims.begin());
        for (int64_t extent : llvm::reverse(dispatch.getScatteredAttr().asArrayRef()))
          if (extent < 0)
            dims.insert(dims.begin(), -1 - extent);
      }
      yield.getValueMutable().assign(
          convert(builder, dispatch, yield.getValue(), halfOf(yield.getValue()), dims));
    }
    for (auto dispatch : function.getOps<DispatchOp>()) {
      Block &body = dispatch.getBody().front();
      size_t next = 0;
      for (auto [i, operand] : llvm::enumerate(dispatch.getInputs())) {
        const int64_t dynamic = cast<RankedTensorType>(operand.getType()).getNumDynamicDims();
        auto dims = dispatch.getOperandDims().slice(next, dynamic);
        next += dynamic;
        if (!narrow.contains(operand))
          continue;
        BlockArgument argument = body.getArgument(i);
        auto wide = cast<RankedTensorType>(argument.getType());
        argument.setType(halfOf(argument));
        builder.setInsertionPointToStart(&body);
        Value converted = convert(builder, dispatch, argument, wide, dims);
        argument.replaceAllUsesExcept(converted, converted.getDefiningOp());
      }
    }
  }
};

} // namespace
} // namespace gantry::codegen

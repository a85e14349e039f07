// Implements the pass order-states (Passes.td), which orders the dimensions of states that may
// grow, so that new rows follow the old ones in memory.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/state_growth.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <optional>

namespace gantry::codegen {

#define GEN_PASS_DEF_ORDERSTATES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns the tensor type whose dimension i is dimension order[i] of `type`.
RankedTensorType permuted(Type type, llvm::ArrayRef<int64_t> order) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(applyPermutation(tensor.getShape(), order), tensor.getElementType());
}

/// Creates the tensor whose dimension i is dimension order[i] of `tensor`.
Value transpose(OpBuilder &builder, Location loc, Value tensor, llvm::ArrayRef<int64_t> order) {
  const RankedTensorType type = permuted(tensor.getType(), order);
  const auto rank = static_cast<unsigned>(type.getRank());
  const auto dims = applyPermutation(llvm::ArrayRef(tensorDims(builder, tensor)), order);
  Value empty = builder.create<tensor::EmptyOp>(loc, dims, type.getElementType());
  const auto inverse = invertPermutationVector(order);
  const llvm::SmallVector<unsigned> from(inverse.begin(), inverse.end());
  const AffineMap maps[] = {AffineMap::getPermutationMap(from, builder.getContext()),
                            builder.getMultiDimIdentityMap(rank)};
  const llvm::SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return builder
      .create<linalg::GenericOp>(loc, TypeRange(type), tensor, empty, maps, loops,
                                 [](OpBuilder &at, Location inner, ValueRange values) {
                                   at.create<linalg::YieldOp>(inner, values.front());
                                 })
      .getResult(0);
}

/// Returns whether the argument is used by tensor.dim operations alone.
bool isUnread(BlockArgument argument) {
  return llvm::all_of(argument.getUsers(),
                      [](Operation *user) { return isa<tensor::DimOp>(user); });
}

struct OrderStatesPass : impl::OrderStatesBase<OrderStatesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    hoistArgumentDims(function.getBody().front());
    for (BlockArgument argument : function.getArguments())
      if (const std::optional<int64_t> rows = dimOfRows(function, argument))
        order(function, argument, *rows);
  }

  /// Returns the dimension of a state that should become the first; nullopt if the argument is no
  /// state, or should keep its order.
  static std::optional<int64_t> dimOfRows(func::FuncOp function, BlockArgument argument) {
    const auto state = argumentAttribute<StateAttr>(function, argument.getArgNumber());
    if (!state || !state.getOrder().empty())
      return std::nullopt;
    for (Operation *user : argument.getUsers())
      if (auto dim = dyn_cast<tensor::DimOp>(user); dim && !dim.getConstantIndex())
        return std::nullopt;
    const auto shape = cast<RankedTensorType>(argument.getType()).getShape();
    std::optional<int64_t> rows;
    if (tensor::ConcatOp concat = growthOf(argument)) {
      // The function must return the concatenation itself and not a reshape of it.
      if (llvm::is_contained(function.getBody().front().getTerminator()->getOperands(),
                             concat.getResult()))
        rows = static_cast<int64_t>(concat.getDim());
    } else if ((state.getResult() < 0 || isUnread(argument)) &&
               llvm::count_if(shape, ShapedType::isDynamic) == 1) {
      // Another program may let the state grow; both need the same order.
      rows = std::distance(shape.begin(), llvm::find_if(shape, ShapedType::isDynamic));
    }
    const bool isContiguous =
        rows && llvm::all_of(shape.take_front(*rows), [](int64_t extent) { return extent == 1; });
    return isContiguous ? std::nullopt : rows;
  }

  /// Makes the dimension `rows` the first one of the state and of its next value.
  static void order(func::FuncOp function, BlockArgument state, int64_t rows) {
    llvm::SmallVector<int64_t> order = {rows};
    for (int64_t d = 0; d < cast<RankedTensorType>(state.getType()).getRank(); ++d)
      if (d != rows)
        order.push_back(d);
    const auto inverse = invertPermutationVector(order);
    if (tensor::ConcatOp concat = growthOf(state)) {
      orderArgument(state, order, inverse);
      orderGrowth(function, state, concat, order, inverse);
    } else {
      const bool isRead = !isUnread(state);
      orderArgument(state, order, inverse);
      OpBuilder builder(&*llvm::find_if_not(function.getBody().front(),
                                            llvm::IsaPred<tensor::DimOp, arith::ConstantOp>));
      if (isRead)
        readTransposed(builder, state, inverse);
      const auto attribute = argumentAttribute<StateAttr>(function, state.getArgNumber());
      if (attribute.getResult() >= 0)
        orderNext(function, static_cast<unsigned>(attribute.getResult()), order);
    }
    setAttributes(function, state.getArgNumber(), order);
  }

  /// Appends the new rows, in the new order of dimensions, along dimension 0.
  static void orderGrowth(func::FuncOp function, BlockArgument state, tensor::ConcatOp concat,
                          llvm::ArrayRef<int64_t> order, llvm::ArrayRef<int64_t> inverse) {
    OpBuilder builder(concat);
    const Location loc = concat.getLoc();
    llvm::SmallVector<Value> parts = {state};
    for (Value rows : concat.getInputs().drop_front())
      parts.push_back(transpose(builder, loc, rows, order));
    auto next = builder.create<tensor::ConcatOp>(loc, permuted(concat.getType(), order),
                                                 uint64_t{0}, parts);
    copyTensorName(concat, next);
    function.getBody().front().getTerminator()->replaceUsesOfWith(concat.getResult(),
                                                                  next.getResult());
    if (!concat.getResult().use_empty())
      concat.getResult().replaceAllUsesWith(transpose(builder, loc, next, inverse));
    concat.erase();
  }

  /// Lets all operations but tensor.dim read the state through a transposition that restores
  /// the model's order of dimensions.
  static void readTransposed(OpBuilder &builder, BlockArgument state,
                             llvm::ArrayRef<int64_t> inverse) {
    Value read = transpose(builder, state.getLoc(), state, inverse);
    state.replaceUsesWithIf(read, [&](OpOperand &use) {
      return !isa<tensor::DimOp>(use.getOwner()) && use.getOwner() != read.getDefiningOp();
    });
  }

  /// Lets the function return the state's next value in the new order.
  static void orderNext(func::FuncOp function, unsigned result, llvm::ArrayRef<int64_t> order) {
    Operation *end = function.getBody().front().getTerminator();
    OpBuilder builder(end);
    Value next = end->getOperand(result);
    end->setOperand(result, transpose(builder, next.getLoc(), next, order));
  }

  /// Sets the types of the function, and the attributes of the state.
  static void setAttributes(func::FuncOp function, unsigned argument,
                            llvm::ArrayRef<int64_t> order) {
    mlir::Block &body = function.getBody().front();
    function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                       body.getTerminator()->getOperandTypes()));
    const auto port = argumentAttribute<PortAttr>(function, argument);
    if (port && !port.getDims().empty())
      function.setArgAttr(argument, PortAttr::name,
                          PortAttr::get(function.getContext(), port.getName(),
                                        applyPermutation(port.getDims(), order),
                                        port.getIsUnsigned(), port.getDonated()));
    const auto old = argumentAttribute<StateAttr>(function, argument);
    function.setArgAttr(
        argument, StateAttr::name,
        StateAttr::get(function.getContext(), old.getResult(), old.getInitial(), order));
  }

  /// Changes the type of the argument, and the operations that read its dimensions.
  static void orderArgument(BlockArgument state, llvm::ArrayRef<int64_t> order,
                            llvm::ArrayRef<int64_t> inverse) {
    state.setType(permuted(state.getType(), order));
    for (Operation *user : llvm::make_early_inc_range(state.getUsers())) {
      auto dim = dyn_cast<tensor::DimOp>(user);
      if (!dim)
        continue;
      OpBuilder builder(dim);
      Value size =
          builder.create<tensor::DimOp>(dim.getLoc(), state, inverse[*dim.getConstantIndex()]);
      dim.getResult().replaceAllUsesWith(size);
      dim.erase();
    }
  }
};

} // namespace
} // namespace gantry::codegen

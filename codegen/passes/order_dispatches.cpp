// order-dispatches: see Passes.td.
#include "codegen/passes/in_place.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"
#include "engine/base/align.h"
#include "engine/plan/order.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_ORDERDISPATCHES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

// What the arena rounds sizes to, and how large a dynamic dimension is taken to be.
constexpr uint64_t kAlignment = 256;
constexpr int64_t kTypicalDim = 64;

/// A size with every dynamic dimension of the inputs at a typical extent.
int64_t typicalExtent(Value index) {
  if (auto constant = getConstantIntValue(index))
    return *constant;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return kTypicalDim;
  SmallVector<Attribute> operands, results;
  for (Value operand : apply.getMapOperands())
    operands.push_back(IntegerAttr::get(index.getType(), typicalExtent(operand)));
  if (failed(apply.getAffineMap().constantFold(operands, results)))
    return kTypicalDim;
  return cast<IntegerAttr>(results[0]).getInt();
}

uint64_t typicalBytes(DispatchOp dispatch) {
  auto type = cast<RankedTensorType>(dispatch.getResult().getType());
  uint64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  unsigned dynamic = 0;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      size = typicalExtent(dispatch.getDims()[dispatch.getResultDims()[dynamic++]]);
    if (__builtin_mul_overflow(bytes, uint64_t(std::max<int64_t>(size, 0)), &bytes))
      return uint64_t{1} << 40; // refused later, with its name
  }
  return roundUp(bytes, kAlignment);
}

bool isReturned(Value storage) {
  for (Operation *user : storage.getUsers()) {
    if (isa<func::ReturnOp>(user))
      return true;
    if (user->getNumResults() == 1 && storageOf(user->getResult(0)) == storage &&
        llvm::any_of(user->getResult(0).getUsers(), llvm::IsaPred<func::ReturnOp>))
      return true;
  }
  return false;
}

struct OrderDispatchesPass : impl::OrderDispatchesBase<OrderDispatchesPass> {
  using OrderDispatchesBase::OrderDispatchesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Block &block = function.getBody().front();
    SmallVector<DispatchOp> dispatches(block.getOps<DispatchOp>());
    llvm::DenseMap<Value, uint32_t> values;
    plan::OrderProblem problem;
    for (DispatchOp dispatch : dispatches) {
      plan::OrderProblem::Operator op;
      for (auto [i, operand] : llvm::enumerate(dispatch.getInputs())) {
        auto known = values.find(storageOf(operand));
        if (known == values.end())
          continue; // an input or a constant: not in the arena
        op.reads.push_back(known->second);
        if (mayTakeStorage(dispatch, i))
          op.mayTake.push_back(known->second);
      }
      const auto value = static_cast<uint32_t>(problem.values.size());
      // Outputs have memory of their own.
      const bool returned = isReturned(dispatch.getResult());
      problem.values.push_back({returned ? 0 : typicalBytes(dispatch), returned});
      values[dispatch.getResult()] = value;
      op.writes = {value};
      problem.operators.push_back(op);
    }
    plan::OrderOptions options;
    options.maxStageGrowth = maxStageGrowth / 100.0;
    Result<plan::Order> order = plan::searchOrder(problem, options);
    if (!order.isOk()) {
      function.emitError("the order search failed: ") << order.status().message();
      return signalPassFailure();
    }
    OpBuilder builder(&getContext());
    function->setAttr("gantry.given_stages", builder.getI64IntegerAttr(order->givenStages));
    function->setAttr("gantry.stages", builder.getI64IntegerAttr(order->stages));
    function->setAttr("gantry.given_peak", builder.getI64IntegerAttr(order->givenPeakBytes));
    if (order->peakBytes >= order->givenPeakBytes)
      return; // as good as it was: the model's own order reads better
    arrange(block, dispatches, order->operators);
  }

  /// Moves the dispatches into their order, each after the views and sizes that it reads.
  static void arrange(Block &block, ArrayRef<DispatchOp> dispatches, ArrayRef<uint32_t> order) {
    llvm::SmallPtrSet<Operation *, 32> placed;
    Operation *end = block.getTerminator();
    llvm::unique_function<void(Operation *)> place = [&](Operation *op) {
      if (!op || op->getBlock() != &block || !placed.insert(op).second)
        return;
      for (Value operand : op->getOperands())
        place(operand.getDefiningOp());
      op->moveBefore(end);
    };
    SmallVector<Operation *> others;
    for (Operation &op : block.without_terminator())
      if (!isa<DispatchOp>(op))
        others.push_back(&op);
    for (uint32_t at : order)
      place(dispatches[at]);
    for (Operation *op : others)
      place(op);
  }
};

} // namespace
} // namespace gantry::codegen

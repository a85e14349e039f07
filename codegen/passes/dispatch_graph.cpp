// Implements the conversion of dispatches to the input of the planner's order and budget searches.
#include "codegen/passes/dispatch_graph.h"

#include "codegen/passes/storage/in_place.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"
#include "engine/base/align.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

// The assumed size of a dynamic dimension without an upper limit.
constexpr int64_t kTypicalDim = 64;
// Upper limit on the size with which a tensor counts, so that no sum of sizes overflows. No device
// has so much memory.
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;

/// Returns the upper limit of a dynamic dimension of an input, or kTypicalDim if it has none.
int64_t largestExtent(tensor::DimOp dim) {
  auto argument = dyn_cast<BlockArgument>(dim.getSource());
  std::optional<int64_t> index = dim.getConstantIndex();
  auto function = dyn_cast<func::FuncOp>(dim->getParentOp());
  if (!argument || !index || !function)
    return kTypicalDim;
  auto port = argumentAttribute<PortAttr>(function, argument.getArgNumber());
  if (!port || *index >= static_cast<int64_t>(port.getDims().size()))
    return kTypicalDim;
  const int64_t max = port.getDims()[*index].getMax();
  return max > 0 ? max : kTypicalDim;
}

/// Evaluates a size, with largestExtent() in place of each dynamic dimension of the inputs. Returns
/// kTypicalDim for an expression that it cannot evaluate.
int64_t typicalExtent(Value index) {
  if (auto constant = getConstantIntValue(index))
    return *constant;
  if (auto dim = index.getDefiningOp<tensor::DimOp>())
    return largestExtent(dim);
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

/// Returns the bytes that a tensor takes in the arena, with typicalExtent() for dynamic sizes.
/// type: the type of the dispatch's result, or of the storage in which the result lies, which has
/// the same rank and dynamic sizes.
uint64_t typicalBytes(DispatchOp dispatch, RankedTensorType type) {
  uint64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  unsigned dynamic = 0;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      size = typicalExtent(dispatch.getDims()[dispatch.getResultDims()[dynamic++]]);
    if (__builtin_mul_overflow(bytes, uint64_t(std::max<int64_t>(size, 0)), &bytes))
      return kMaxBytes; // The emission of the program refuses such a tensor.
  }
  return bytes < kMaxBytes ? roundUp(bytes, kArenaAlignment) : kMaxBytes;
}

/// Returns the function's argument that is a state (a tensor that the program keeps between runs)
/// whose next value is result `i` of the function; null if there is none.
Value stateOfResult(func::FuncOp function, unsigned i) {
  for (BlockArgument argument : function.getArguments())
    if (auto state = argumentAttribute<StateAttr>(function, argument.getArgNumber());
        state && state.getResult() == static_cast<int64_t>(i))
      return argument;
  return {};
}

/// Returns whether a stored tensor lies in an output or in a state, and not in the arena: the
/// program returns the tensor, or a scatter (startOfScatters()) replaces its rows in place and the
/// program returns the scatter's result. There is one exception. The next value of a state does not
/// lie in the state but is copied there if it is a concatenation, or if scatters made it from a
/// tensor other than the state. `tensor` is `storage` or a view of it; only its uses are examined.
bool liesInOutput(Value storage, Value tensor) {
  auto dispatch = storage.getDefiningOp<DispatchOp>();
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user)) {
      Value state = stateOfResult(cast<func::FuncOp>(user->getParentOp()), use.getOperandNumber());
      Value start = dispatch ? startOfScatters(dispatch) : Value();
      if (!state || (dispatch && (!start || start == state)))
        return true;
    } else if (auto scatter = dyn_cast<DispatchOp>(user)) {
      if (scatter.getScattered() && scatter.getInPlace() == use.getOperandNumber() &&
          liesInOutput(scatter.getResult(), scatter.getResult()))
        return true;
    } else if (user->getNumResults() == 1 && viewedTensor(user->getResult(0)) == storage &&
               liesInOutput(storage, user->getResult(0))) {
      return true;
    }
  }
  return false;
}

} // namespace

DispatchGraph dispatchGraphOf(func::FuncOp function, SharedStorage shared) {
  DispatchGraph graph;
  graph.dispatches = llvm::to_vector(function.getBody().front().getOps<DispatchOp>());
  llvm::DenseMap<Value, uint32_t> values;
  llvm::MapVector<Value, plan::OrderProblem::Storage> storages;
  llvm::DenseSet<Value> withGaps; // Storages with a part that is not one range of bytes.
  for (DispatchOp dispatch : graph.dispatches) {
    plan::OrderProblem::Operator op;
    for (auto [i, operand] : llvm::enumerate(dispatch.getInputs()))
      for (Value part : partsOf(operand)) {
        auto known = values.find(part);
        if (known == values.end())
          continue; // Inputs and constants are not in the arena.
        op.reads.push_back(known->second);
        if (dispatch.getScattered() && dispatch.getInPlace() == i)
          graph.problem.values[known->second].mayLeave = false;
        if (mayTakeStorage(dispatch, i))
          op.mayTake.push_back(known->second);
      }
    const auto value = static_cast<uint32_t>(graph.problem.values.size());
    Value storage = storageOf(dispatch.getResult());
    const bool outside = liesInOutput(storage, storage);
    // A scatter overwrites its operand, so neither it nor its operand can be computed again.
    graph.problem.values.push_back(
        {outside ? 0 : typicalBytes(dispatch, dispatch.getResult().getType()),
         outside || isReturned(storage), !dispatch.getScattered()});
    values[dispatch.getResult()] = value;
    op.writes = {value};
    if (storage != dispatch.getResult() && !outside) {
      plan::OrderProblem::Storage &whole = storages[storage];
      whole.sizeBytes = typicalBytes(dispatch, cast<RankedTensorType>(storage.getType()));
      whole.values.push_back(value);
      graph.problem.values.back().mayLeave = false;
      if (!isOneRange(placementOf(dispatch.getResult())))
        withGaps.insert(storage);
    }
    graph.problem.operators.push_back(op);
  }
  for (auto &[storage, values] : storages)
    if (shared == SharedStorage::kWhole || withGaps.contains(storage))
      graph.problem.storages.push_back(std::move(values));
  return graph;
}

std::string operatorName(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    return WalkResult::advance();
  });
  return name;
}

} // namespace gantry::codegen

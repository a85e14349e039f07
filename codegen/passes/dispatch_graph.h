// Converts the program's dispatches to the input of the planner's order and budget searches
// (engine/plan/order).
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "engine/plan/order/order.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gantry::codegen {

struct DispatchGraph {
  llvm::SmallVector<DispatchOp> dispatches; // In the order of the function.
  plan::OrderProblem problem;               // Operator i and value i belong to dispatch i.
};

/// How the bytes of a storage of several tensors count. In reality its parts are in use, and
/// planned, each for itself (engine/plan/slots.h), if each is one range of bytes. But an arena for
/// such parts may be a few per cent larger than the sum of the live bytes, which a budget must not
/// exceed. Within a budget, storages therefore count as a whole, unless counting parts lowers the
/// smallest possible budget to `kWorthwhileParts` of it.
enum class SharedStorage { kInParts, kWhole };
inline constexpr double kWorthwhileParts = 0.9;

/// Returns the graph of the function's dispatches. Sizes are in bytes and rounded up as in the
/// arena. A dynamic dimension counts as its upper limit, or as 64 if it has none. Tensors that lie
/// in an output or a state have size 0. Inputs and constants are
/// not part of the problem.
DispatchGraph dispatchGraphOf(mlir::func::FuncOp function, SharedStorage shared);

/// Returns the name in the model of an operation's first operator; "" if it has none.
std::string operatorName(mlir::Operation *op);

} // namespace gantry::codegen

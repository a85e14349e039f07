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

/// How the bytes of a storage of several tensors count: each part only while it is in use, or the
/// whole storage while any part is in use. The plan of the program gives each part a lifetime of
/// its own (engine/plan/slots.h) if each part is one range of bytes. But the arena of such a plan
/// may be a few per cent larger than the largest sum of live bytes, and a budget limits the arena.
/// Within a budget, storages therefore count as a whole, unless the smallest possible budget is at
/// most `kWorthwhileParts` times as large if they count in parts.
enum class SharedStorage { kInParts, kWhole };
inline constexpr double kWorthwhileParts = 0.9;

/// Returns the graph of the function's dispatches. Sizes are in bytes and rounded up as in the
/// arena. A dynamic dimension counts as its upper limit, or as 64 if it has none. Tensors that lie
/// in an output or a state have size 0. Inputs and constants are not part of the problem.
DispatchGraph dispatchGraphOf(mlir::func::FuncOp function, SharedStorage shared);

/// Returns the name in the model of an operation's first operator; "" if it has none.
std::string operatorName(mlir::Operation *op);

} // namespace gantry::codegen

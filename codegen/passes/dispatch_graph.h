// Converts the program's dispatches (kernel launches) to the input of the planner's searches for an
// order with a low memory peak and for a way to meet a memory budget (engine/plan/order).
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "engine/plan/order/order.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gantry::codegen {

struct DispatchGraph {
  llvm::SmallVector<DispatchOp> dispatches; // In the order of the function.
  plan::OrderProblem problem;               // Operator i is dispatch i, and value i is its result.
};

/// How the searches count the bytes of a storage that holds several tensors (its parts), such as a
/// concatenation: each part only while the part is in use (kInParts), or the whole storage while
/// any part is in use (kWhole). A storage with a part that is not one range of bytes always counts
/// as a whole. The plan of the program's arena gives each part a lifetime of its own
/// (engine/plan/slots.h). The arena of such a plan may be a few per cent larger than the largest
/// sum of live bytes in parts, so an order that meets a budget by this sum may still exceed it. If
/// the user sets a budget, storages therefore count as a whole: the planner also tries each storage
/// as a whole, and then usually reaches the sum. There is one exception: if the budget cannot be
/// met in this way, and counting in parts lowers the smallest budget that can be met to at most
/// `kWorthwhileParts` times its value, storages count in parts.
enum class SharedStorage { kInParts, kWhole };
inline constexpr double kWorthwhileParts = 0.9;

/// Returns the graph of the function's dispatches. Sizes are in bytes, rounded up to a multiple of
/// kArenaAlignment (tensor_dims.h). A dynamic dimension counts as its upper limit, or as 64 if it
/// has none. Tensors that lie in an output of the program or in a state (a tensor that the program
/// keeps between runs) have size 0. Inputs and constants are not part of the problem.
DispatchGraph dispatchGraphOf(mlir::func::FuncOp function, SharedStorage shared);

/// Returns the model's name of an operation; for a dispatch, that of its first operator. "" if
/// there is no name.
std::string operatorName(mlir::Operation *op);

} // namespace gantry::codegen

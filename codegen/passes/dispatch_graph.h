// The program's dispatches as the planner's searches see them (engine/plan/order.h, budget.h).
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "engine/plan/order.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gantry::codegen {

struct DispatchGraph {
  llvm::SmallVector<DispatchOp> dispatches; // as they stand in the function
  plan::OrderProblem problem;               // operator i and value i are those of dispatch i
};

/// Sizes are as the arena rounds them; dynamic dimensions count as a typical extent, and what is
/// returned, like inputs even where they are donated, as nothing.
DispatchGraph dispatchGraphOf(mlir::func::FuncOp function);

} // namespace gantry::codegen

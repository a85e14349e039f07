// The costs of the operations of a kernel's body, for the cost model (tile_cost.h).
#pragma once

#include "mlir/IR/Operation.h"

namespace gantry::codegen {

/// The cost of e^x, in additions. See costOf().
inline constexpr double kExponentialCost = 40;

/// Returns the cost of an operation on scalars, relative to an addition. The cost of a function is
/// the number of operations that it is expanded to (targets/accurate_math.h), counted in the SPIR-V
/// of kernels. Threads: pure.
double costOf(mlir::Operation &op);

} // namespace gantry::codegen

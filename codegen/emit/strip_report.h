// Copies the result of the pass `strips` (codegen/passes/Passes.td) into the artifact's program.
#pragma once

#include "engine/artifact/artifact.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gantry::codegen {

/// Sets `strips` and `model_operations` of the program from `gantry.strips` of its function.
/// Changes nothing if the function does not have this attribute.
void reportStrips(mlir::func::FuncOp function, artifact::ProgramT &program);

} // namespace gantry::codegen

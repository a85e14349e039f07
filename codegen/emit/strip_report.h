// Copies the report of the pass `strips` into the artifact's program.
//
// The pass computes a chain of operators in strips, one range of rows of its result after another,
// so that the tensors between the operators never exist whole (codegen/passes/Passes.td).
#pragma once

#include "engine/artifact/artifact.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gantry::codegen {

/// Sets two fields of the program from `gantry.strips`, the attribute in which the pass reports its
/// result on the program's function: `strips`, the chains that are computed in strips, and
/// `model_operations`, the number of arithmetic operations of the model without strips. Changes
/// nothing if the function does not have this attribute.
void reportStrips(mlir::func::FuncOp function, artifact::ProgramT &program);

} // namespace gantry::codegen

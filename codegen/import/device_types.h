// Refuses modules with operations on element types that no device supports.
//
// SPIR-V's extended instructions (exp, log, sin, tanh, pow, …) exist for 16 and 32 bits only, and
// SPIR-V has no bfloat16. A function of f64 is not computed in f32 instead, because the result
// would have half of the digits that the model expects. Operations that constant folding removes
// are not affected, because the host computes f64 and bfloat16. Thread safety: reads the IR only.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace gantry::importer {

/// Returns success if devices can compute every operation of `module`. Otherwise reports one error,
/// which lists the element types and functions that are not supported, with the nodes (ONNX) or
/// lines (.mlir) that need them.
mlir::LogicalResult checkDeviceTypes(mlir::ModuleOp module);

} // namespace gantry::importer

// What an imported module needs of element types that no device computes with.
//
// SPIR-V's extended instructions (exp, log, sin, tanh, pow, …) know 16 and 32 bits, and bfloat16
// has no form in it at all. Computing such a function of f64 in f32 would give half of the digits
// that the model asks for, so it is refused. What folds away while importing is fine: the host
// knows both. Threads: reads the IR only.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace gantry::importer {

/// Whether devices can compute everything in `module`. Where not: one error that lists every such
/// operation with its nodes (ONNX) or lines (.mlir).
mlir::LogicalResult checkDeviceTypes(mlir::ModuleOp module);

} // namespace gantry::importer

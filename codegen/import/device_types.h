// Refuses modules that need element types which no device computes with.
//
// SPIR-V's extended instructions (exp, log, sin, tanh, pow, …) exist for 16 and 32 bits only, and
// bfloat16 does not exist in it at all. A function of f64 is not computed in f32 instead, because
// the result would have half of the digits that the model asks for. Operations that fold away while
// importing are not affected: the host computes both types. Thread safety: reads the IR only.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace gantry::importer {

/// Returns success where devices can compute everything in `module`. Otherwise reports one error
/// that lists every operation that they cannot, with its nodes (ONNX) or lines (.mlir).
mlir::LogicalResult checkDeviceTypes(mlir::ModuleOp module);

} // namespace gantry::importer

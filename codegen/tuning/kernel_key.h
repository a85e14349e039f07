// Computes the key of a kernel in tables of measured tiles (tuning_table.h): a hash of the function
// that describes the kernel's computation as linalg on tensors.
//
// The hash covers operators, types, shapes, indexing maps, layouts, the data flow and integer
// constants. It does not cover names, locations, the values of floating-point constants, known
// divisors of dynamic sizes, or the place of a tensor in a larger storage (`within`, `start` and
// `steps` of gantry.layout). Equal kernels of two models therefore have the same key, and compiling
// a model again results in the same keys. A newer compiler may make different kernels from a model,
// which then have different keys.
//
// Thread safety: pure functions.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace gantry::codegen {

/// Returns the key of a kernel's function on tensors: 16 hexadecimal digits.
std::string kernelKey(mlir::func::FuncOp kernel);

} // namespace gantry::codegen

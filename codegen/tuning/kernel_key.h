// The key of a kernel in tables of measured tiles: a hash of everything that the choice of a tile
// depends on.
//
// The hash covers operators, types, shapes, indexing maps, layouts and the data flow. It does not
// cover names, locations and the values of floating-point constants. Two models with the same
// kernel therefore share its key, and compiling a model again gives the same keys. A newer compiler
// may make different kernels from a model, which then have different keys.
//
// Thread safety: pure functions.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace gantry::codegen {

/// Returns the key, 16 hexadecimal digits, of a kernel's function on tensors.
std::string kernelKey(mlir::func::FuncOp kernel);

} // namespace gantry::codegen

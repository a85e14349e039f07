// What names a kernel in a table of measured tiles: a hash of all that the tiler sees of it.
//
// Operators, types, shapes, maps, layouts and how they hang together are part of it; names,
// locations and the values of floating-point constants are not. So two models that have the same
// kernel share its key, and compiling a model again gives the same keys. A newer compiler may make
// other kernels of a model, or print their attributes in another way: then the keys are others.
//
// Threads: pure.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace gantry::codegen {

/// `kernel`: the outlined function, before it is emitted. 16 hexadecimal digits.
std::string kernelKey(mlir::func::FuncOp kernel);

} // namespace gantry::codegen

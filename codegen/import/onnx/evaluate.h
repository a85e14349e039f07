// Evaluates one linalg.generic on the host, for folding constants and as a judge in tests.
//
// The body is translated once into a list of steps over numbered slots; the loops then run it point
// by point, in the order of the iteration space, rounding each result to its type as a device
// would. Indexing maps, linalg.index and tensor.extract are evaluated as they are: nothing here
// knows ONNX. It is an interpreter: a few ten million points a second, so it folds weights, and
// runs whole small models in tests. Threads: reads the IR only; safe where reading the IR is.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class Value;
namespace linalg {
class GenericOp;
}
} // namespace mlir

namespace gantry::importer {

/// Runs `op` (static shapes, one result) on known tensors. `known` gives the contents of each input
/// and captured tensor; `init` is what the result holds beforehand (read by reductions alone).
/// Where every input is a splat and no loop index is used, the result of an elementwise op is a
/// splat again. Fails (unsupported) on a body operation that it does not know. Integers wrap, and a
/// quotient by zero is 0. Where an element comes from integer arithmetic that is marked with
/// kExactAttribute and overflows its type or divides by zero, the result is marked inexact, without
/// the node's name; what a select leaves aside does not count.
Constant evaluateGeneric(mlir::linalg::GenericOp op, DType resultType,
                         llvm::function_ref<Constant(mlir::Value)> known, Number init);

} // namespace gantry::importer

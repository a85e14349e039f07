// Evaluates one linalg.generic on the host, to fold constants and to compute reference results in
// tests.
//
// The body is translated once into a list of steps over numbered slots (evaluate_steps.h). The
// evaluator then runs the steps for each point of the iteration space, in order, and rounds every
// result to its type as a device does. It supports any indexing map, linalg.index and
// tensor.extract, and does not depend on ONNX. It evaluates some ten million points per second,
// which is enough to fold weights and to run small models in tests. Thread safety: reads the IR
// only.
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

/// Returns the result of `op`, which has static shapes and one result. `known` returns the contents
/// of each input and of each captured tensor. `init` is the initial value of every element of the
/// result, which only reductions read. An elementwise operation on splats that uses no loop index
/// returns a splat.
///
/// Integers wrap, and a division of integers by zero gives 0. If an element of the result depends
/// on an operation with `gantry.exact` that overflowed or divided by zero, HostTensor::inexact of
/// the result is set, without the node's name. Operands that a select does not choose do not count.
/// Fails (ImportError) as unsupported for an unknown operation in the body, and as bad input for an
/// index of tensor.extract that is out of bounds.
Constant evaluateGeneric(mlir::linalg::GenericOp op, DType resultType,
                         llvm::function_ref<Constant(mlir::Value)> known, Number init);

} // namespace gantry::importer

// Evaluates one linalg.generic on the host, to fold constants and to judge results in tests.
//
// The body is translated once into a list of steps over numbered slots. The loops then run the
// steps for each point of the iteration space, in order, and round every result to its type as a
// device does. Indexing maps, linalg.index and tensor.extract are supported in general; nothing
// here depends on ONNX. This is an interpreter for some ten million points per second: enough to
// fold weights and to run small models in tests. Thread safety: reads the IR only.
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

/// Runs `op`, which has static shapes and one result. `known` gives the contents of each input and
/// of each captured tensor; `init` is the result's initial value, which only reductions read.
/// An elementwise operation over splats that uses no loop index gives a splat.
///
/// Integers wrap, and a division by zero gives 0. Where an element depends on arithmetic that is
/// marked with `gantry.exact` and overflowed or divided by zero, the result is marked
/// inexact, without the node's name; an operand that a select does not choose is ignored.
/// Fails (unsupported) on an unknown operation in the body, and as bad input on an index that is
/// out of bounds.
Constant evaluateGeneric(mlir::linalg::GenericOp op, DType resultType,
                         llvm::function_ref<Constant(mlir::Value)> known, Number init);

} // namespace gantry::importer

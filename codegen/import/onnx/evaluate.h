// Evaluates one linalg.generic on the host, to fold constants and to compute reference results in
// tests.
//
// The body is translated once into a list of steps (evaluate_steps.h). Numbered slots hold the
// scalar values that the steps read and write. The evaluator then visits the points of the
// iteration space in row-major order and runs all steps at each. The result of every step is
// rounded to its type. It supports any indexing map, linalg.index and tensor.extract, and does not
// depend on ONNX. It evaluates some ten million points per second, which is enough to fold weights
// and to run small models in tests. Thread safety: reads the IR only.
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
/// of each input, and of each tensor that the body reads with tensor.extract. `init` is the initial
/// value of every element of the result; only reductions read it. An elementwise operation on
/// splats (tensors with equal elements) that uses no loop index returns a splat.
///
/// Integers wrap, and a division of integers by zero gives 0. The attribute `gantry.exact` marks
/// the integer operations whose overflow must be known, because models compute shapes with them
/// (body.h). If an element of the result depends on such an operation that overflowed or divided by
/// zero, the result's record HostTensor::inexact says how; its field `node` stays empty, because
/// the evaluator does not know the node of the model. Operands that a select does not choose do not
/// count. Throws ImportError (import_error.h): unsupported for an unknown operation in the body,
/// bad input for an index of tensor.extract that is out of bounds.
Constant evaluateGeneric(mlir::linalg::GenericOp op, DType resultType,
                         llvm::function_ref<Constant(mlir::Value)> known, Number init);

} // namespace gantry::importer

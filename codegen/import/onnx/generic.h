// GenericSpec: the description of one linalg.generic, and the function that builds it.
//
// An operator's importer fills in a GenericSpec and calls ImportContext::generic, which calls
// buildGeneric. If all operands are constants, buildGeneric can fold the operation: it builds the
// operation in a temporary block, evaluates it on the host (evaluate.h), erases it, and returns the
// result as a constant. In the temporary block, a tensor.empty stands for each operand, so that the
// module gets no constants that only folded operations use. The evaluator gets the contents of the
// operands from buildGeneric. An operation that is not folded stays in the module.
//
// An operation on constants is folded if its iteration space has at most 2^24 points, because
// folding a larger one would take too long. An operation without operands computes its result from
// loop indices only. Its limit is 4,096 points, because a kernel that computes a larger result
// takes less space in the compiled file than the result. There is no limit for elementwise
// operations on splats (constants with equal elements), and none if a test folds a whole model.
//
// 16-bit floats are only a storage type: the body receives them as f32, sums are accumulated in
// f32, and the result is rounded once.
#pragma once

#include "codegen/import/onnx/body.h"
#include "codegen/import/onnx/tensor.h"

#include "mlir/IR/AffineMap.h"

#include <functional>

namespace gantry::importer {

class ImportContext;

/// An input of a generic, and the map from loop indices to the input's indices (one dim per loop,
/// no symbols).
struct Operand {
  Tensor tensor;
  mlir::AffineMap map;
};

/// One linalg.generic with one result.
struct GenericSpec {
  llvm::SmallVector<Operand> inputs;
  /// Tensors that the body reads with BodyBuilder::extract (body.h), at indices that it computes.
  llvm::SmallVector<Tensor> captured;
  /// One entry per loop: true for a reduction loop, false for a parallel one.
  llvm::SmallVector<bool> reduction;
  DType resultType = DType::kF32;
  Dims resultDims;
  /// The map from loop indices to the result's indices. Null is the identity.
  mlir::AffineMap resultMap;
  /// Reductions only: the result's value before the first iteration.
  std::optional<Number> init;
  /// Whether the body reads a dynamic dimension. Such an operation is never folded.
  bool usesDims = false;
  /// Whether folding would make constants larger (dequantised weights). Such an operation is folded
  /// only if a test folds the whole model (ImportContext::foldsEverything).
  bool keepsConstants = false;
  /// Builds the body from the inputs' elements and, in a reduction, the accumulator. Returns the
  /// element of the result or the new accumulator.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar> elements, Scalar accumulator)> body;
};

/// Folds the operation, or builds it at the import's insertion point. Throws ImportError
/// (import_error.h) if the result's rank or size is not supported.
Tensor buildGeneric(ImportContext &import, const GenericSpec &spec);

} // namespace gantry::importer

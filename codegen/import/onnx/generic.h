// GenericSpec: the description of one linalg.generic, and the function that builds it.
//
// An operator's importer fills in a GenericSpec and calls ImportContext::generic. The builder
// decides whether the operation is folded: where all operands are constants and the work is
// bounded (2^24 points of the iteration space; no bound when a test folds a whole model), the
// operation is built over placeholders, evaluated on the host (evaluate.h) and thrown away.
// Otherwise it stays in the module.
//
// 16-bit floats are a storage type only: the body receives them as f32, sums are accumulated in
// f32, and the result is rounded once.
#pragma once

#include "codegen/import/onnx/body.h"
#include "codegen/import/onnx/tensor.h"

#include "mlir/IR/AffineMap.h"

#include <functional>

namespace gantry::importer {

class ImportContext;

/// An input of a generic, with the map from loops to its indices (one dim per loop, no symbols).
struct Operand {
  Tensor tensor;
  mlir::AffineMap map;
};

/// One linalg.generic with one result.
struct GenericSpec {
  llvm::SmallVector<Operand> inputs;
  /// Tensors that the body reads with BodyBuilder::extract.
  llvm::SmallVector<Tensor> captured;
  /// One entry per loop: true for a reduction loop, false for a parallel one.
  llvm::SmallVector<bool> reduction;
  DType resultType = DType::kF32;
  Dims resultDims;
  /// The map from loops to the result's indices. Null stands for the identity.
  mlir::AffineMap resultMap;
  /// Reductions only: the result's value before the first iteration.
  std::optional<Number> init;
  /// Set where the body reads a dynamic dimension. Such an operation is never folded.
  bool usesDims = false;
  /// Set where folding would only make constant operands larger (dequantised weights). The
  /// operation is then folded only when the whole model is.
  bool keepsConstants = false;
  /// Builds the body from the inputs' elements and, in a reduction, the result so far.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar> elements, Scalar accumulator)> body;
};

/// Folds or builds the operation at the import's insertion point. Fails (ImportError) where the
/// result's size is impossible.
Tensor buildGeneric(ImportContext &import, const GenericSpec &spec);

} // namespace gantry::importer

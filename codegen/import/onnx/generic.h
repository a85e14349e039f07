// GenericSpec: the description of one linalg.generic, and the function that builds it.
//
// An operator's importer fills in a GenericSpec and calls ImportContext::generic. The builder folds
// the operation if all operands are constants and the iteration space has at most 2^24 points
// (4,096 without operands; no limit when a test folds a whole model). To fold, it builds the
// operation over placeholders, evaluates it on the host (evaluate.h) and erases it. Otherwise the
// operation stays in the module.
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
  /// Tensors that the body reads with BodyBuilder::extract.
  llvm::SmallVector<Tensor> captured;
  /// One entry per loop: true for a reduction loop, false for a parallel one.
  llvm::SmallVector<bool> reduction;
  DType resultType = DType::kF32;
  Dims resultDims;
  /// The map from loop indices to the result's indices. Null is the identity.
  mlir::AffineMap resultMap;
  /// Reductions only: the result's value before the first iteration.
  std::optional<Number> init;
  /// True if the body reads a dynamic dimension. Such an operation is never folded.
  bool usesDims = false;
  /// True if folding would make constants larger (dequantised weights). Such an operation is folded
  /// only if a test folds the whole model (ImportContext::foldsEverything).
  bool keepsConstants = false;
  /// Builds the body from the inputs' elements and, in a reduction, the accumulator. Returns the
  /// element of the result or the new accumulator.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar> elements, Scalar accumulator)> body;
};

/// Folds the operation, or builds it at the import's insertion point. Fails (ImportError) if the
/// result's rank or size is not supported.
Tensor buildGeneric(ImportContext &import, const GenericSpec &spec);

} // namespace gantry::importer

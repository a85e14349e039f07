// Matmuls, as MatMul and the quantised operators share them.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// The sum of a matmul. Without `term` it multiplies elements and sums them in resultType; 16-bit
/// floats are summed in f32 (generic.h).
struct MatrixSum {
  DType resultType = DType::kF32;
  /// Further operands of `term`, in this order: scalars, one value per row of a ([M], [..., M, 1])
  /// or per column of b ([N], [..., 1, N]).
  std::optional<Tensor> ofA = std::nullopt, ofB = std::nullopt;
  /// The term of (a, b, ofA, ofB), in resultType.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)> term = nullptr;
};

/// NumPy's matmul of a and b: vectors, matrices, and batches of them that broadcast. Fails by
/// throwing ImportError where the shapes do not fit.
Tensor multiplyMatrices(ImportContext &import, const Tensor &a, const Tensor &b,
                        const MatrixSum &sum);

} // namespace gantry::importer

// Builds matmuls for MatMul and for the quantised operators.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// How a matmul computes its sums. Without `term`, it sums the products of elements in resultType;
/// 16-bit floats are summed in f32 (generic.h).
struct MatrixSum {
  DType resultType = DType::kF32;
  /// Further operands of `term`. Each is a scalar, or has one value per row of a for ofA ([M] or
  /// [..., M, 1]), or one value per column of b for ofB ([N] or [..., 1, N]).
  std::optional<Tensor> ofA = std::nullopt, ofB = std::nullopt;
  /// Computes one term of the sum from elements of (a, b, ofA, ofB), in resultType. Operands that
  /// are not given are left out.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)> term = nullptr;
};

/// Returns NumPy's matmul of a and b, which are vectors, matrices, or batches of matrices that
/// broadcast. Throws ImportError (import_error.h) with the kind kBadInput if the shapes do not fit.
Tensor multiplyMatrices(ImportContext &import, const Tensor &a, const Tensor &b,
                        const MatrixSum &sum);

} // namespace gantry::importer

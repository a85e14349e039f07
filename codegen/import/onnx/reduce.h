// Reductions that other operator families are made of.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// Minus infinity, or the least integer: what max starts from; and the opposite.
Number lowestOf(DType type);
Number highestOf(DType type);

Tensor reduceSum(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
Tensor reduceMax(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
Tensor reduceMin(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
/// The sum, then a division by the count (dynamic dimensions included).
Tensor reduceMean(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                  bool keepDims);
/// in / count as the type's own division.
Tensor divideByCount(ImportContext &import, const Tensor &in, Dim count);

} // namespace gantry::importer

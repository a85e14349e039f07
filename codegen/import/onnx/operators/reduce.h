// Reductions that several operator families use.
//
// Axes are sorted, distinct and not negative. 16-bit floats are accumulated in f32 (generic.h).
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// The neutral elements of max and min: minus infinity or the lowest integer, and the opposite.
Number lowestOf(DType type);
Number highestOf(DType type);

Tensor reduceSum(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
Tensor reduceMax(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
Tensor reduceMin(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
/// The sum divided by the number of elements, which may depend on dynamic dimensions.
Tensor reduceMean(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                  bool keepDims);
/// in / count, with the division of in's type (integers truncate).
Tensor divideByCount(ImportContext &import, const Tensor &in, Dim count);

} // namespace gantry::importer

// Builds the reductions that several operator families use.
//
// Axes are sorted, distinct and not negative. 16-bit floats are accumulated in f32 (generic.h). The
// functions fail by throwing ImportError (import_error.h).
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// Return the neutral elements of max (minus infinity or the lowest integer) and of min (infinity
/// or the highest integer).
Number lowestOf(DType type);
Number highestOf(DType type);

Tensor reduceSum(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
Tensor reduceMax(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
Tensor reduceMin(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims);
/// Returns the sum divided by the number of elements, which may depend on dynamic dimensions.
Tensor reduceMean(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                  bool keepDims);
/// Returns in / count in the type of `in`; quotients of integers are truncated.
Tensor divideByCount(ImportContext &import, const Tensor &in, Dim count);

} // namespace gantry::importer

// Builders that move elements without computing with them.
//
// A constant is moved on the host, and shape contents stay expressions. Otherwise reshape, slice,
// concat and pad become operations of the tensor dialect; transpose, broadcastTo and a slice with a
// negative step become a linalg.generic that copies. A call that changes nothing returns its input.
// All functions fail by throwing ImportError. Thread safety: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// Dimension i of the result is dimension permutation[i] of `in`.
Tensor transpose(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> permutation);
/// Fails as bad input where the element counts differ, as unsupported where it is not provable that
/// they agree.
Tensor reshape(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> dims);
/// `dims` is what NumPy's broadcasting of `in` with another shape gives.
Tensor broadcastTo(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> dims);
/// Along axis k: sizes[k] elements from starts[k] on, steps[k] apart. A step may be negative, not
/// 0.
Tensor slice(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> starts,
             llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<int64_t> steps);
/// Fails (bad input) where the parts differ in type, rank, or a dimension other than `axis`.
Tensor concat(ImportContext &import, llvm::ArrayRef<Tensor> parts, int64_t axis);
/// Adds low[k] elements before and high[k] behind `in` along axis k. Neither is negative.
Tensor pad(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> low,
           llvm::ArrayRef<Dim> high, Number value);

} // namespace gantry::importer

// Builders that move elements and do not compute with them.
//
// Constants are moved on the host, and shape contents (Tensor::content in tensor.h) stay
// expressions where possible. Otherwise reshape, slice, concat and pad become operations of the
// tensor dialect; transpose, broadcastTo and a slice with a negative step become a linalg.generic
// that copies. A call that changes nothing returns its input. All functions fail by throwing
// ImportError (import_error.h), whose kind is bad input or unsupported. Thread safety: one thread
// at a time per ImportContext.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// Dimension i of the result is dimension permutation[i] of `in`.
Tensor transpose(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> permutation);
/// Fails as bad input if the element counts differ, and as unsupported if dynamic element counts
/// cannot be proven to be equal.
Tensor reshape(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> dims);
/// Broadcasts `in` to `dims`, which must be a result of ImportContext::broadcastDims for `in` or
/// another shape to which `in` broadcasts.
Tensor broadcastTo(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> dims);
/// Returns, along each axis k, sizes[k] elements that begin at starts[k] and are steps[k] apart. A
/// step may be negative, but not 0.
Tensor slice(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> starts,
             llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<int64_t> steps);
/// Fails (bad input) if the parts differ in type, rank, or a dimension other than `axis`.
Tensor concat(ImportContext &import, llvm::ArrayRef<Tensor> parts, int64_t axis);
/// Adds low[k] elements of `value` before and high[k] after `in` along axis k. Neither may be
/// negative.
Tensor pad(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> low,
           llvm::ArrayRef<Dim> high, Number value);

} // namespace gantry::importer

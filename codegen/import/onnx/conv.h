// Convolutions, and what they share with pools: windows that slide over spatial dimensions.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// The spatial attributes of Conv, ConvTranspose and the pools, for each spatial axis.
struct Windows {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  llvm::SmallVector<Dim> padLow, padHigh;
  Dims outputs; // spatial sizes of the result
  bool ceilMode = false;
  /// (kernel - 1) * dilation + 1
  int64_t extent(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Reads kernel_shape (or takes `kernel`), strides, dilations, pads, auto_pad and ceil_mode, checks
/// them, and computes the output's sizes for the spatial dims of `input` ([N, C, spatial...]).
Windows readWindows(const Node &node, llvm::ArrayRef<Dim> input, llvm::ArrayRef<int64_t> kernel);

/// Strides, dilations and kernel without pads: shared by readWindows and ConvTranspose.
void readKernelAttributes(const Node &node, size_t spatialRank, llvm::ArrayRef<int64_t> kernel,
                          Windows &windows);

/// Imports a Conv node; filter and bias replace its inputs where given; the result is named as the
/// first output of `output`.
void importConvolution(ImportContext &import, const Node &node, std::optional<Tensor> filter,
                       std::optional<Tensor> bias, const Node &output);

/// What a convolution sums. Without `term` it multiplies elements of x and of the filter and sums
/// them in resultType; 16-bit floats are summed in f32 (GenericSpec::body).
struct ConvolutionSum {
  DType resultType = DType::F32;
  Number padding = {};                       // what x has outside of its bounds
  llvm::SmallVector<Tensor> perChannel = {}; // of rank 0 or 1: further operands of `term`
  /// The term of (x, filter, perChannel...), in resultType.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)> term = nullptr;
};

/// The convolution of x and filter with the window attributes of `node` (no bias).
Tensor convolve(ImportContext &import, const Node &node, const Tensor &x, const Tensor &filter,
                const ConvolutionSum &sum);

/// x + bias over dimension 1.
Tensor addChannelBias(ImportContext &import, const Tensor &in, const Tensor &bias);

} // namespace gantry::importer

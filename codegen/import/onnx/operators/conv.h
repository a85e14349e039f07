// Convolutions, as Conv, the quantised operators and the folding of scales share them.
//
// A convolution is one linalg.generic over a padded input. All functions fail by throwing
// ImportError.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// Imports a Conv node. `filter` and `bias` replace the node's inputs where a filter is given. The
/// result gets the name of the first output of `output`.
void importConvolution(ImportContext &import, const Node &node, std::optional<Tensor> filter,
                       std::optional<Tensor> bias, const Node &output);

/// The sum of a convolution. Without `term` it multiplies elements of x and of the filter and sums
/// them in resultType; 16-bit floats are summed in f32 (generic.h).
struct ConvolutionSum {
  DType resultType = DType::kF32;
  /// The value of x outside of its bounds.
  Number padding = {};
  /// Further operands of `term`: scalars, or one value per output channel.
  llvm::SmallVector<Tensor> perChannel = {};
  /// The term of (x, filter, perChannel...), in resultType.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)> term = nullptr;
};

/// The convolution of x and filter with the window attributes of `node`, without a bias.
Tensor convolve(ImportContext &import, const Node &node, const Tensor &x, const Tensor &filter,
                const ConvolutionSum &sum);

/// in + bias, with one value of the bias for each element of dimension 1.
Tensor addChannelBias(ImportContext &import, const Tensor &in, const Tensor &bias);

} // namespace gantry::importer

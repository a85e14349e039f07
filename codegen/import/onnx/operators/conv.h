// Builds convolutions for Conv, ConvTranspose and the quantised operators, and for a Conv into
// which other nodes are folded (fold_scale.h).
//
// A convolution is one linalg.generic over a padded input. All functions fail by throwing
// ImportError (import_error.h). Thread safety: one thread at a time per ImportContext.
#pragma once

#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/operators/windows.h"

namespace gantry::importer {

/// Imports a Conv node. If `filter` is given, `filter` and `bias` replace the node's inputs 1 and
/// 2. The result becomes the first output of the node `output`, which is `node` or the last node
/// that is folded into it.
void importConvolution(ImportContext &import, const Node &node, std::optional<Tensor> filter,
                       std::optional<Tensor> bias, const Node &output);

/// How a convolution computes its sums. Without `term`, it sums the products of elements of x and
/// of the filter in resultType; 16-bit floats are summed in f32 (generic.h).
struct ConvolutionSum {
  DType resultType = DType::kF32;
  /// The value of x outside of its bounds.
  Number padding = {};
  /// Further operands of `term`, each a scalar or one value per output channel.
  llvm::SmallVector<Tensor> perChannel = {};
  /// Computes one term of the sum from elements of (x, filter, perChannel...), in resultType.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)> term = nullptr;
};

/// Returns the convolution of x and filter with the window attributes of `node`, without a bias.
Tensor convolve(ImportContext &import, const Node &node, const Tensor &x, const Tensor &filter,
                const ConvolutionSum &sum);

/// Returns the convolution of x and filter with these windows, which must fit x and filter.
Tensor convolve(ImportContext &import, const Tensor &x, const Tensor &filter,
                const Windows &windows, int64_t group, const ConvolutionSum &sum);

/// Returns whether convolve() makes the groups images of a larger batch, so that each image has the
/// channels of one group. channels: the number of channels of x. group: the number of groups.
/// inPerGroup, outPerGroup: the numbers of input and output channels of one group.
bool groupsBecomeImages(Dim channels, int64_t group, int64_t inPerGroup, int64_t outPerGroup);
/// Makes each group of channels an image of its own, by a reshape from [n, group * inPerGroup, ...]
/// to [n * group, inPerGroup, ...].
Tensor imagesOfGroups(ImportContext &import, const Tensor &x, int64_t group, int64_t inPerGroup);
/// Like convolve(), but each group is an image of its own, in `images` (made by imagesOfGroups())
/// and in the result.
Tensor convolveImages(ImportContext &import, const Tensor &images, const Tensor &filter,
                      const Windows &windows, int64_t group, const ConvolutionSum &sum);

/// Returns in + bias, where the bias has one value for each index of dimension 1 of `in`.
Tensor addChannelBias(ImportContext &import, const Tensor &in, const Tensor &bias);

} // namespace gantry::importer

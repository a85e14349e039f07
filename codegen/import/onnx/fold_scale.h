// ScaleFolder: folds scales and shifts of a convolution's channels into its filter and bias.
//
// conv(x, W) * s[c] + t[c] equals conv(x, W * s[c]) + t[c]. Therefore a BatchNormalization, or a
// Mul or Add with a constant per channel, is folded if it is the only user of a convolution with a
// constant filter. The same applies to the nodes that follow it. This is done while importing,
// because the names of all nodes are known here; the location of the convolution contains all of
// them. Fails by throwing ImportError.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

class ScaleFolder {
public:
  /// onlyUser returns the node that reads a value if it is the only one, otherwise nothing.
  ScaleFolder(ImportContext &import, std::function<std::optional<Node>(llvm::StringRef)> onlyUser)
      : import_(import), onlyUser_(std::move(onlyUser)) {}

  /// Imports a Conv and all nodes that fold into it. Returns the indices of these nodes, or nothing
  /// if there are none.
  std::optional<llvm::SmallVector<int>> importConv(const Node &conv);

private:
  /// A factor and a shift for each channel, as constants of rank 1. A Tensor without a constant
  /// means that there is no factor (no shift).
  struct Scale {
    Tensor factor, shift;
  };
  /// Returns the scale that `node` applies to the value `input`, which has `channels` channels, or
  /// nothing if the node does something else.
  std::optional<Scale> scaleOf(const Node &node, llvm::StringRef input, Dim channels, int64_t rank,
                               DType type);

  ImportContext &import_;
  std::function<std::optional<Node>(llvm::StringRef)> onlyUser_;
};

/// Returns a BatchNormalization's factor and shift per channel: factor = scale / sqrt(variance +
/// epsilon), shift = B - mean * factor. Fails (unsupported) in training mode.
std::pair<Tensor, Tensor> batchNormScale(ImportContext &import, const Node &node);

} // namespace gantry::importer

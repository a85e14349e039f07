// ScaleFolder: folds scales and shifts of a convolution's channels into its filter and bias.
//
// conv(x, W) * s[c] + t[c] equals conv(x, W * s[c]) + t[c]. Therefore a BatchNormalization, or a
// Mul or Add with a constant per channel, is folded if it is the only user of a convolution whose
// filter and bias are constant. If the only user of its result is again such a node, this node is
// folded too, and so on. The importer does this, and not a later pass, because only the importer
// knows the names of the nodes: the location of the convolution contains the names of all folded
// nodes. Functions fail by throwing ImportError (import_error.h).
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

class ScaleFolder {
public:
  /// onlyUser returns the node that reads a value if it is the only one, otherwise nothing.
  ScaleFolder(ImportContext &import, std::function<std::optional<Node>(llvm::StringRef)> onlyUser)
      : import_(import), onlyUser_(std::move(onlyUser)) {}

  /// Imports a Conv and all nodes that fold into it. Returns the indices of the folded nodes in the
  /// graph, or nothing if only the Conv is imported.
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
/// epsilon), shift = B - mean * factor, where scale, B, mean and variance are inputs of the node.
/// Fails (unsupported) in training mode.
std::pair<Tensor, Tensor> batchNormScale(ImportContext &import, const Node &node);

} // namespace gantry::importer

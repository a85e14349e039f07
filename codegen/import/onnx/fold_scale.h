// ScaleFolder: folds scales and shifts of a convolution's channels into its filter and bias.
//
// conv(x, W) * s[c] + t[c] is conv(x, W * s[c]) + t[c]. Therefore a BatchNormalization, or a Mul or
// Add with a constant per channel, disappears where it is the only user of a convolution with a
// constant filter; so does the next one behind it. This happens while importing, because the names
// of all nodes are known here; the location of the convolution fuses theirs.
// Fails by throwing ImportError.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

class ScaleFolder {
public:
  /// onlyUser gives the node that reads a value, or nothing where several do.
  ScaleFolder(ImportContext &import, std::function<std::optional<Node>(llvm::StringRef)> onlyUser)
      : import_(import), onlyUser_(std::move(onlyUser)) {}

  /// Imports a Conv with all nodes that fold into it. Returns the indices of those nodes, or
  /// nothing where none did.
  std::optional<llvm::SmallVector<int>> importConv(const Node &conv);

private:
  /// Constants of rank 1 with one element per channel. A Tensor without a constant is absent.
  struct Scale {
    Tensor factor, shift;
  };
  std::optional<Scale> scaleOf(const Node &node, llvm::StringRef input, Dim channels, int64_t rank,
                               DType type);

  ImportContext &import_;
  std::function<std::optional<Node>(llvm::StringRef)> onlyUser_;
};

/// A BatchNormalization's factor and shift per channel: factor = scale / sqrt(variance + epsilon),
/// shift = B - mean * factor. Fails (unsupported) in training mode.
std::pair<Tensor, Tensor> batchNormScale(ImportContext &import, const Node &node);

} // namespace gantry::importer

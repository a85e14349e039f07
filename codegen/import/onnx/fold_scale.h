// Folds what scales and shifts a convolution's channels into its filter and bias.
//
// conv(x, W) * s[c] + t[c] is conv(x, W * s[c]) + t[c]: a BatchNormalization, or a Mul or Add by a
// constant per channel, that is the only user of a convolution (or of one already folded) with a
// constant filter disappears. Done while importing, because here the names of both are known; the
// operation's location fuses all of them.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

class ScaleFolder {
public:
  /// onlyUser gives the one node that reads a value, or none where there are several.
  ScaleFolder(ImportContext &import, std::function<std::optional<Node>(llvm::StringRef)> onlyUser)
      : import_(import), onlyUser_(std::move(onlyUser)) {}

  /// Imports a Conv with everything that folds into it; the indices of the nodes folded.
  std::optional<llvm::SmallVector<int>> importConv(const Node &conv);

private:
  struct Scale {
    Tensor factor, shift; // rank 1, one element per channel; absent: value and constant both null
  };
  std::optional<Scale> scaleOf(const Node &node, llvm::StringRef input, Dim channels, int64_t rank,
                               DType type);

  ImportContext &import_;
  std::function<std::optional<Node>(llvm::StringRef)> onlyUser_;
};

/// A BatchNormalization's factor and shift per channel: scale / sqrt(var + epsilon), B - mean *
/// factor.
std::pair<Tensor, Tensor> batchNormScale(ImportContext &import, const Node &node);

} // namespace gantry::importer

// Classifies operators by their names (convolution, matmul, pooling, ...) and gives each kind its
// colours, so that `gantry inspect --plot` and the profiler draw a tensor in the same colour.
//
// Operators have the names that the artifact (the compiled model) uses: an ONNX operator or node,
// or several joined by " + " if they were fused. The kind of a fused operator is that of the part
// whose kind comes first in the table of op_kind.cpp, which roughly begins with the most expensive
// kinds: a convolution fused with a ReLU is a convolution. A name has a kind if its part after the
// last '/', in lower case, contains a word of the kind: "pool" is in "MaxPool_3". The result is a
// guess that may be wrong for an unusual node name; only colours and legends may depend on it.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace gantry {

enum class OpKind : uint8_t {
  kConvolution,
  kMatmul,
  kPool,
  kNormalise,
  kElementwise,
  kMovement,
  kOther
};
inline constexpr uint32_t kOpKindCount = 7;

/// Returns the kind of the operator named `op`; kOther if no word of the name is known.
OpKind opKindOf(std::string_view op);

/// The kind's name in legends: "convolution".
const char *opKindName(OpKind kind);
/// The kind's CSS class: "conv".
const char *opKindClass(OpKind kind);

/// The colours of one kind, as 0xRRGGBB.
struct OpKindColours {
  uint32_t fill;
  uint32_t edge; // The outline; contrasts more with the background.
};
/// Returns the colours for a light or a dark background. Text in 0x14202e is readable on every
/// light fill, text in 0xf2f6fb on every dark fill.
OpKindColours opKindColours(OpKind kind, bool darkGround);

} // namespace gantry

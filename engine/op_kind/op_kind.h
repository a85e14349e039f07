// What kind of work an operator is, from its name, and the colours of each kind: `gantry inspect
// --plot` and the profiler draw the same tensor in the same colour.
//
// Operators appear as the artifact names them: an ONNX operator or node, several joined by " + "
// where they were fused. The heaviest part decides: a convolution fused with a ReLU is a
// convolution. Names are matched by words ("MaxPool_3" holds "pool"), so this is a guess that may
// be wrong for an unusual node name, and nothing but colours depends on it.
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

OpKind opKindOf(std::string_view op);

/// "convolution": for legends.
const char *opKindName(OpKind kind);
/// "conv": a CSS class.
const char *opKindClass(OpKind kind);

/// The colours of one kind, 0xRRGGBB.
struct OpKindColours {
  uint32_t fill;
  uint32_t edge; // stronger than the fill: the line around it
};
/// On a light or on a dark ground. Text of 0x14202e is readable on each light fill, text of
/// 0xf2f6fb on each dark one.
OpKindColours opKindColours(OpKind kind, bool darkGround);

} // namespace gantry

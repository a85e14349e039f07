// What kind of work an operator is, from its name: the colour of a tensor in a picture.
//
// Operators appear as the artifact names them: an ONNX operator or node, several joined by " + "
// where they were fused. The heaviest part decides: a convolution fused with a ReLU is a
// convolution. Names are matched by words ("MaxPool_3" holds "pool"), so this is a guess that may
// be wrong for an unusual node name, and nothing but colours depends on it.
//
// Threads: pure functions.
#pragma once

#include <string_view>

namespace gantry::tool {

enum class OpKind { kConvolution, kMatmul, kPool, kNormalise, kElementwise, kMovement, kOther };
inline constexpr int kOpKindCount = 7;

OpKind opKindOf(std::string_view op);

/// "convolution": for legends.
const char *opKindName(OpKind kind);
/// "conv": a CSS class.
const char *opKindClass(OpKind kind);

} // namespace gantry::tool

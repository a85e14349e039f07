// The table of words that identify a kind, and the table of colours.
#include "engine/op_kind/op_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>

namespace gantry {
namespace {

struct Rule {
  OpKind kind;
  std::initializer_list<const char *> words;
};

// Earlier rules win, both within one name and among the parts of a fused operator.
const Rule kRules[] = {
    {OpKind::kConvolution, {"conv"}},
    {OpKind::kMatmul, {"matmul", "gemm", "einsum", "attention", "linear", "fullyconnected", "dot"}},
    {OpKind::kPool, {"pool"}},
    {OpKind::kNormalise,
     {"norm", "softmax", "reduce", "lrn", "argmax", "argmin", "topk", "cumsum"}},
    {OpKind::kMovement, {"transpose",
                         "reshape",
                         "concat",
                         "slice",
                         "gather",
                         "scatter",
                         "pad",
                         "resize",
                         "upsample",
                         "split",
                         "flatten",
                         "squeeze",
                         "expand",
                         "copy",
                         "tile",
                         "depthtospace",
                         "spacetodepth",
                         "shuffle",
                         "constantofshape",
                         "range",
                         "identity",
                         "trilu",
                         "onehot"}},
    {OpKind::kElementwise,
     {"relu", "add",   "mul",   "sub",   "div",   "sigmoid", "tanh", "clip",  "hard",   "erf",
      "gelu", "exp",   "sqrt",  "pow",   "where", "cast",    "neg",  "abs",   "log",    "min",
      "max",  "equal", "less",  "great", "not",   "and",     "or",   "silu",  "swish",  "elu",
      "mean", "sum",   "floor", "ceil",  "round", "sin",     "cos",  "recip", "dropout"}},
};

/// Returns the last part of a scoped name in lower case: "/features/squeeze/Conv" gives "conv".
std::string lastComponent(std::string_view part) {
  while (!part.empty() && (part.back() == '/' || part.back() == ' '))
    part.remove_suffix(1);
  size_t slash = part.rfind('/');
  if (slash != std::string_view::npos)
    part = part.substr(slash + 1);
  std::string result(part);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

size_t ruleOf(const std::string &name) {
  for (size_t r = 0; r < std::size(kRules); ++r)
    for (const char *word : kRules[r].words)
      if (name.find(word) != std::string::npos)
        return r;
  return std::size(kRules);
}

} // namespace

OpKind opKindOf(std::string_view op) {
  size_t best = std::size(kRules);
  while (!op.empty()) {
    size_t plus = op.find(" + ");
    best = std::min(best, ruleOf(lastComponent(op.substr(0, plus))));
    op = plus == std::string_view::npos ? std::string_view() : op.substr(plus + 3);
  }
  return best < std::size(kRules) ? kRules[best].kind : OpKind::kOther;
}

const char *opKindName(OpKind kind) {
  switch (kind) {
  case OpKind::kConvolution:
    return "convolution";
  case OpKind::kMatmul:
    return "matmul";
  case OpKind::kPool:
    return "pooling";
  case OpKind::kNormalise:
    return "normalisation, reduction";
  case OpKind::kElementwise:
    return "elementwise";
  case OpKind::kMovement:
    return "data movement";
  case OpKind::kOther:
    return "other";
  }
  return "other";
}

const char *opKindClass(OpKind kind) {
  switch (kind) {
  case OpKind::kConvolution:
    return "conv";
  case OpKind::kMatmul:
    return "mat";
  case OpKind::kPool:
    return "pool";
  case OpKind::kNormalise:
    return "norm";
  case OpKind::kElementwise:
    return "elt";
  case OpKind::kMovement:
    return "move";
  case OpKind::kOther:
    return "other";
  }
  return "other";
}

OpKindColours opKindColours(OpKind kind, bool darkGround) {
  // In the order of OpKind: convolution, matmul, pool, normalise, elementwise, movement, other.
  static constexpr std::array<OpKindColours, kOpKindCount> kLight = {{{0xa9c8f5, 0x3f78c9},
                                                                      {0xcdb8f2, 0x7a55c4},
                                                                      {0xf6b9a4, 0xc9603a},
                                                                      {0xf5d68a, 0xb3862a},
                                                                      {0xa5ddc0, 0x2f9362},
                                                                      {0xc6ced9, 0x6f7d90},
                                                                      {0xe3d3c4, 0x94785d}}};
  static constexpr std::array<OpKindColours, kOpKindCount> kDark = {{{0x28518c, 0x6ea4ee},
                                                                     {0x513a86, 0xa98bec},
                                                                     {0x833e27, 0xec9273},
                                                                     {0x6d5314, 0xdcb352},
                                                                     {0x1d5e41, 0x5cc492},
                                                                     {0x414c5b, 0x93a2b6},
                                                                     {0x5a4a3c, 0xbda58c}}};
  return (darkGround ? kDark : kLight)[static_cast<size_t>(kind)];
}

} // namespace gantry

#include "tools/gantry/op_kind.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>

namespace gantry::tool {
namespace {

struct Rule {
  OpKind kind;
  std::initializer_list<const char *> words;
};

// The order decides within one part, and across fused parts the earlier rule wins.
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

/// The operator itself without the scope of its name: "/features/squeeze/Conv" gives "conv".
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
    return "matrix product";
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

} // namespace gantry::tool

// Lists the operators of the importer that the special-value test (main.cpp) leaves out. They move
// elements, or use the arithmetic of operators in its table (operators.h).
#include "tests/e2e/numerics/operators.h"

namespace gantry::numerics {

const std::map<std::string, std::string> &otherOperators() {
  static const std::map<std::string, std::string> kKinds = [] {
    std::map<std::string, std::string> map;
    auto add = [&](const char *kind, std::initializer_list<const char *> names) {
      for (const char *name : names)
        map[name] = kind;
    };
    add("moves elements", {"Concat",  "DepthToSpace",   "Dropout",   "Expand",       "Flatten",
                           "Gather",  "GatherElements", "GatherND",  "Identity",     "Pad",
                           "Reshape", "ScatterND",      "Slice",     "SpaceToDepth", "Split",
                           "Squeeze", "Tile",           "Transpose", "Trilu",        "Unsqueeze"});
    add("makes a tensor from shapes or numbers",
        {"Constant", "ConstantOfShape", "EyeLike", "OneHot", "Range", "Shape", "Size"});
    add("sums products", {"Conv", "ConvInteger", "ConvTranspose", "Einsum", "Gemm", "MatMul",
                          "MatMulInteger", "QLinearConv", "QLinearMatMul"});
    add("slides a window", {"AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool",
                            "LpPool", "MaxPool", "Resize", "Upsample"});
    add("normalises",
        {"BatchNormalization", "GroupNormalization", "InstanceNormalization", "LRN",
         "LayerNormalization", "LpNormalization", "MeanVarianceNormalization", "RMSNormalization"});
    add("quantises", {"DynamicQuantizeLinear"});
    return map;
  }();
  return kKinds;
}

} // namespace gantry::numerics

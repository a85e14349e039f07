// The table of operand types, and the check of a node against it.
#include "codegen/import/onnx/operand_types.h"

#include "codegen/import/onnx/context.h"

#include "llvm/ADT/StringMap.h"

namespace gantry::importer {

namespace {

constexpr TypeSet setOf(std::initializer_list<DType> types) {
  TypeSet set = 0;
  for (DType type : types)
    set |= TypeSet(1u << unsigned(type));
  return set;
}

constexpr TypeSet kBool = setOf({DType::kBool});
constexpr TypeSet kSingleFloats = setOf({DType::kF32, DType::kF16, DType::kBF16});
constexpr TypeSet kFloats = kSingleFloats | setOf({DType::kF64});
constexpr TypeSet kSigned = setOf({DType::kI8, DType::kI16, DType::kI32, DType::kI64});
constexpr TypeSet kUnsigned = setOf({DType::kU8, DType::kU16, DType::kU32, DType::kU64});
constexpr TypeSet kIntegers = kSigned | kUnsigned;
constexpr TypeSet kNumbers = kFloats | kIntegers;
constexpr TypeSet kAny = kNumbers | kBool;

using Names = std::initializer_list<llvm::StringRef>;
using Table = llvm::StringMap<OperandTypes>;

void add(Table &table, Names names, llvm::SmallVector<TypeSet> inputs, TypeSet later = 0) {
  for (llvm::StringRef name : names)
    table[name] = {inputs, later};
}

void addElementwise(Table &t) {
  add(t, {"Add", "Sub", "Mul", "Div", "Mod", "Sum", "Abs", "Neg", "Sign", "Relu", "Clip", "Pow"},
      {kNumbers});
  add(t, {"PRelu"}, {kNumbers, kNumbers | kSameAsFirst});
  add(t, {"Max", "Min", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}, {kAny});
  add(t, {"Mean",      "Exp",         "Log",     "Sqrt",     "Tanh",           "Sin",
          "Cos",       "Tan",         "Asin",    "Acos",     "Atan",           "Sinh",
          "Cosh",      "Asinh",       "Acosh",   "Atanh",    "Floor",          "Ceil",
          "Round",     "Reciprocal",  "IsNaN",   "IsInf",    "LeakyRelu",      "Elu",
          "Selu",      "Celu",        "Sigmoid", "Softplus", "Softsign",       "Mish",
          "HardSwish", "HardSigmoid", "Swish",   "Gelu",     "ThresholdedRelu"},
      {kFloats});
  add(t, {"Erf", "Shrink"}, {kFloats}, kIntegers);
  add(t, {"And", "Or", "Xor", "Not"}, {kBool});
  add(t, {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"}, {kIntegers});
  add(t, {"BitShift"}, {kUnsigned, kUnsigned | kSameAsFirst});
  add(t, {"Where"}, {kBool, kAny});
  add(t, {"Cast", "CastLike"}, {kAny});
}

// Operators that combine elements: reductions, matmuls, convolutions, pools and normalisations.
void addSums(Table &t) {
  add(t,
      {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
       "CumSum"},
      {kNumbers, kIntegers});
  add(t, {"ReduceMax", "ReduceMin", "ArgMax", "ArgMin"}, {kAny, kIntegers});
  add(t, {"ReduceLogSum", "ReduceLogSumExp"}, {kFloats, kIntegers}, kIntegers);
  add(t, {"MatMul", "Gemm", "Einsum", "Conv", "ConvTranspose"},
      {kNumbers, kNumbers | kSameAsFirst});
  add(t, {"MaxPool", "GlobalMaxPool"}, {kNumbers});
  add(t,
      {"AveragePool", "GlobalAveragePool", "LpPool", "GlobalLpPool", "Softmax", "LogSoftmax",
       "BatchNormalization", "LayerNormalization", "RMSNormalization", "MeanVarianceNormalization",
       "LpNormalization", "LRN"},
      {kFloats});
  add(t, {"InstanceNormalization", "GroupNormalization"}, {kFloats, kFloats | kSameAsFirst});
}

// The importers of these operators check the types of quantised tensors and zero points themselves,
// with their own messages. Therefore the table allows every type (kAny) for these inputs.
void addQuantized(Table &t) {
  const TypeSet scale = kSingleFloats;
  add(t, {"QuantizeLinear"}, {kSingleFloats | setOf({DType::kI32}), scale, kAny});
  add(t, {"DequantizeLinear"}, {kAny, scale, kAny});
  add(t, {"DynamicQuantizeLinear"}, {setOf({DType::kF32})});
  add(t, {"ConvInteger", "MatMulInteger"}, {kAny});
  add(t, {"QLinearConv", "QLinearMatMul"}, {kAny, scale, kAny, kAny, scale, kAny, scale, kAny});
}

// Operators that move elements or create tensors.
void addMoves(Table &t) {
  add(t, {"Concat"}, {kAny, kAny | kSameAsFirst});
  add(t, {"OneHot"}, {kNumbers, kNumbers, kAny});
  add(t, {"Range"}, {kNumbers});
  add(t, {"Constant",       "ConstantOfShape", "DepthToSpace", "Dropout",  "Expand", "EyeLike",
          "Flatten",        "Gather",          "GatherND",     "Identity", "Pad",    "Reshape",
          "GatherElements", "Resize",          "ScatterND",    "Shape",    "Size",   "Slice",
          "SpaceToDepth",   "Split",           "Squeeze",      "Tile",     "Trilu",  "Transpose",
          "Unsqueeze",      "Upsample"},
      {kAny});
}

std::string describe(TypeSet set) {
  llvm::SmallVector<std::string> names;
  for (DType type :
       {DType::kF32, DType::kF16, DType::kF64, DType::kBF16, DType::kI8, DType::kU8, DType::kI16,
        DType::kU16, DType::kI32, DType::kU32, DType::kI64, DType::kU64, DType::kBool})
    if (set & setOf({type}))
      names.push_back(dtypeName(type).str());
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

} // namespace

const OperandTypes *operandTypesOf(llvm::StringRef op) {
  static const Table kTable = [] {
    Table t;
    addElementwise(t);
    addSums(t);
    addQuantized(t);
    addMoves(t);
    return t;
  }();
  auto found = kTable.find(op);
  return found == kTable.end() ? nullptr : &found->second;
}

void checkOperandTypes(const ImportContext &import, const Node &node) {
  const OperandTypes *types = operandTypesOf(node.opType());
  if (!types)
    return;
  const Tensor *first = nullptr;
  for (size_t i = 0; i < node.inputCount(); ++i) {
    const Tensor *tensor = node.hasInput(i) ? import.lookup(node.inputName(i)) : nullptr;
    if (!tensor)
      continue;
    if (i == 0)
      first = tensor;
    const TypeSet type = setOf({tensor->type});
    const TypeSet allowed = types->inputs[std::min(i, types->inputs.size() - 1)];
    if (i == 0 && (types->later & type))
      failUnsupported(node.opType() + " of " + dtypeName(tensor->type) + " is not supported yet");
    if (!(allowed & type))
      failBadInput("the input \"" + node.inputName(i) + "\" is " + dtypeName(tensor->type) +
                   "; it must be " + describe(allowed));
    if ((allowed & kSameAsFirst) && first && first->type != tensor->type)
      failBadInput("its operands must have the same type, but are " + dtypeName(first->type) +
                   " and " + dtypeName(tensor->type));
  }
}

} // namespace gantry::importer

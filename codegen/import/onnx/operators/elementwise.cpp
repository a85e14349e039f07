// Imports elementwise arithmetic, comparisons, logic, bit operations, casts and Where, with NumPy's
// broadcasting.
//
// Shape contents are the elements of a small integer tensor as expressions over the dynamic
// dimensions (Tensor::content in tensor.h), for example the result of Shape. If the operands have
// shape contents and the operator has a symbolic form, the result has shape contents too.
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>

namespace gantry::importer {

namespace {

using Binary = Scalar (*)(BodyBuilder &, Scalar, Scalar);
// The operator on two elements of shape contents. Returns null if the result has no expression.
using Symbolic = Dim (*)(Dim, Dim);

// Aligns the second operand for opsets before 7, where the attribute `axis` is the dimension of the
// first operand that corresponds to dimension 0 of the second.
Tensor alignLegacy(ImportContext &import, const Node &node, const Tensor &a, Tensor b) {
  if (node.opset() >= 7 || !node.hasAttribute("axis") || b.rank() == 0)
    return b;
  int64_t axis = normalizeAxis(node.intAttribute("axis", 0), a.rank());
  Dims dims = b.dims;
  for (int64_t i = axis + b.rank(); i < a.rank(); ++i)
    dims.push_back(import.number(1));
  return reshape(import, b, dims);
}

// Applies `symbolic` to the elements of two shape contents, which are lists, scalars, or tensors of
// the same shape. Returns nothing if an operand has no shape contents, if both operands are
// constant (ImportContext::generic folds these), or if an element of the result has no expression.
std::optional<Tensor> foldSymbolic(ImportContext &import, const Tensor &a, const Tensor &b,
                                   Symbolic symbolic) {
  if (!symbolic || !a.content || !b.content || (a.constant && b.constant))
    return std::nullopt;
  const auto &x = *a.content, &y = *b.content;
  const bool lists = a.rank() <= 1 && b.rank() <= 1;
  if (lists ? x.size() != y.size() && x.size() != 1 && y.size() != 1 : a.dims != b.dims)
    return std::nullopt;
  llvm::SmallVector<Dim> out;
  const size_t count = x.empty() || y.empty() ? 0 : std::max(x.size(), y.size());
  for (size_t i = 0; i < count; ++i) {
    Dim value = symbolic(x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i]);
    if (!value)
      return std::nullopt;
    out.push_back(value);
  }
  if (!lists)
    return import.fromContent(a.type, out, staticDims(a.dims, "a shape"));
  return import.fromContent(a.type, out, a.rank() == 0 && b.rank() == 0);
}

template <Binary binary, Symbolic symbolic = nullptr>
void importBinary(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0);
  Tensor b = alignLegacy(import, node, a, import.input(node, 1));
  if (a.type != b.type)
    failBadInput("its operands must have the same type, but are " + dtypeName(a.type) + " and " +
                 dtypeName(b.type));
  if (auto folded = foldSymbolic(import, a, b, symbolic))
    return import.setOutput(node, 0, *folded);
  Tensor result =
      import.elementwise({a, b}, a.type, [](BodyBuilder &body, llvm::ArrayRef<Scalar> x) {
        return binary(body, x[0], x[1]);
      });
  import.setOutput(node, 0, result);
}

Scalar add(BodyBuilder &b, Scalar x, Scalar y) { return b.add(x, y); }
Scalar sub(BodyBuilder &b, Scalar x, Scalar y) { return b.sub(x, y); }
Scalar mul(BodyBuilder &b, Scalar x, Scalar y) { return b.mul(x, y); }
Scalar div(BodyBuilder &b, Scalar x, Scalar y) { return b.div(x, y); }
Scalar min(BodyBuilder &b, Scalar x, Scalar y) { return b.min(x, y); }
Scalar max(BodyBuilder &b, Scalar x, Scalar y) { return b.max(x, y); }
Scalar bitAnd(BodyBuilder &b, Scalar x, Scalar y) { return b.andBits(x, y); }
Scalar bitOr(BodyBuilder &b, Scalar x, Scalar y) { return b.orBits(x, y); }
Scalar bitXor(BodyBuilder &b, Scalar x, Scalar y) { return b.xorBits(x, y); }

bool isExactQuotient(Dim a, Dim b) { return mulDims(floorDivDims(a, b), b) == a; }

// Returns a / b, truncated as ONNX specifies, or null if there is no expression for it.
// floorDivDims() rounds down instead. Both give the same result if the division has no remainder,
// or if the divisor is positive and the dividend is not negative. For a dynamic dividend,
// importDiv() has recorded the condition that it is not negative.
Dim divideSizes(Dim a, Dim b) {
  auto dividend = staticDim(a), divisor = staticDim(b);
  if (dividend && divisor && *divisor > 0)
    return mlir::getAffineConstantExpr(*dividend / *divisor, a.getContext());
  if (!divisor || *divisor <= 0)
    return isExactQuotient(a, b) ? floorDivDims(a, b) : Dim();
  return floorDivDims(a, b);
}

Dim minOfSizes(Dim a, Dim b) {
  auto order = compareDims(a, b);
  return !order ? Dim() : *order <= 0 ? a : b;
}

Dim maxOfSizes(Dim a, Dim b) {
  auto order = compareDims(a, b);
  return !order ? Dim() : *order >= 0 ? a : b;
}

void importDiv(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0), b = import.input(node, 1);
  if (isFloat(a.type) && a.content && b.content && !(a.constant && b.constant)) {
    auto exact = [](Dim x, Dim y) {
      if (staticDim(y) == 0)
        return Dim();
      Dim quotient = floorDivDims(x, y);
      return mulDims(quotient, y) == x ? quotient : Dim();
    };
    if (auto folded = foldSymbolic(import, a, b, exact))
      return import.setOutput(node, 0, *folded);
    return importBinary<div>(import, node);
  }
  if (a.content && b.content && !(a.constant && b.constant))
    for (Dim x : *a.content)
      for (Dim y : *b.content)
        if (!staticDim(x) && staticDim(y) > 0 && !isExactQuotient(x, y))
          import.constraints().requireNonNegative(x);
  importBinary<div, divideSizes>(import, node);
}

template <Binary binary, Symbolic symbolic = nullptr>
void importVariadic(ImportContext &import, const Node &node) {
  Tensor result = import.input(node, 0);
  llvm::SmallVector<Tensor> operands{result};
  for (size_t i = 1; i < node.inputCount(); ++i) {
    operands.push_back(import.input(node, i));
    if (operands.back().type != result.type)
      failBadInput("its operands must have the same type, but are " + dtypeName(result.type) +
                   " and " + dtypeName(operands.back().type));
  }
  if (operands.size() == 2)
    if (auto folded = foldSymbolic(import, operands[0], operands[1], symbolic))
      return import.setOutput(node, 0, *folded);
  const bool mean = node.opType() == "Mean";
  const double count = static_cast<double>(operands.size());
  auto y = import.elementwise(operands, result.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
    Scalar value = x[0];
    for (Scalar other : x.drop_front())
      value = binary(b, value, other);
    return mean ? b.div(value, b.constant(result.type, count)) : value;
  });
  import.setOutput(node, 0, y);
}

template <Compare op> void importCompare(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0);
  Tensor b = alignLegacy(import, node, a, import.input(node, 1));
  if (a.type != b.type)
    failBadInput("its operands must have the same type, but are " + dtypeName(a.type) + " and " +
                 dtypeName(b.type));
  // A comparison of shape contents is folded if it has the same result for all sizes.
  if (a.content && b.content && !(a.constant && b.constant)) {
    auto decide = [](Dim x, Dim y) -> Dim {
      auto order = compareDims(x, y);
      if (!order)
        return {};
      bool holds = op == Compare::kEqual       ? *order == 0
                   : op == Compare::kLess      ? *order < 0
                   : op == Compare::kGreater   ? *order > 0
                   : op == Compare::kLessEqual ? *order <= 0
                                               : *order >= 0;
      return mlir::getAffineConstantExpr(holds, x.getContext());
    };
    if (auto folded = foldSymbolic(import, a, b, decide))
      return import.setOutput(node, 0, import.cast(*folded, DType::kBool));
  }
  Tensor result =
      import.elementwise({a, b}, DType::kBool, [](BodyBuilder &body, llvm::ArrayRef<Scalar> x) {
        return body.compare(op, x[0], x[1]);
      });
  import.setOutput(node, 0, result);
}

using UnaryBody = Scalar (*)(BodyBuilder &, Scalar);

template <Unary op> Scalar apply(BodyBuilder &b, Scalar x) { return b.unary(op, x); }

Scalar reciprocal(BodyBuilder &b, Scalar x) { return b.div(b.constant(x.type, 1), x); }

Scalar sign(BodyBuilder &b, Scalar x) {
  Scalar zero = b.constant(x.type, 0), one = b.constant(x.type, 1);
  Scalar other = isFloat(x.type) ? b.select(b.isNaN(x), x, zero) : zero;
  Scalar positive = b.select(b.compare(Compare::kGreater, x, zero), one, other);
  if (isUnsigned(x.type))
    return positive;
  return b.select(b.compare(Compare::kLess, x, zero), b.constant(x.type, -1), positive);
}

Scalar notBool(BodyBuilder &b, Scalar x) { return b.notBool(x); }

Scalar bitNot(BodyBuilder &b, Scalar x) { return b.xorBits(x, b.constantInt(x.type, -1)); }

template <UnaryBody body> void importUnary(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  Tensor result = import.elementwise(
      {x}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) { return body(b, in[0]); });
  import.setOutput(node, 0, result);
}

// Imports a rounding function. It does not change shape contents, which are integers.
template <Unary op> void importRounding(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (x.content && !x.constant)
    return import.setOutput(node, 0, x);
  importUnary<apply<op>>(import, node);
}

void importNeg(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (x.content && !x.constant) {
    llvm::SmallVector<Dim> out;
    for (Dim dim : *x.content)
      out.push_back(subDims(import.number(0), dim));
    return import.setOutput(node, 0,
                            import.fromContent(x.type, out, staticDims(x.dims, "a shape")));
  }
  importUnary<apply<Unary::kNeg>>(import, node);
}

void importIsNaN(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  Tensor result = import.elementwise(
      {x}, DType::kBool, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) { return b.isNaN(in[0]); });
  import.setOutput(node, 0, result);
}

void importIsInf(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const bool negative = node.intAttribute("detect_negative", 1) != 0;
  const bool positive = node.intAttribute("detect_positive", 1) != 0;
  auto y = import.elementwise({x}, DType::kBool, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    Scalar up = b.compare(Compare::kEqual, in[0], b.constant(x.type, INFINITY));
    Scalar down = b.compare(Compare::kEqual, in[0], b.constant(x.type, -INFINITY));
    if (positive && negative)
      return b.orBits(up, down);
    return positive ? up : negative ? down : b.constantInt(DType::kBool, 0);
  });
  import.setOutput(node, 0, y);
}

// Returns base^exponent by repeated squaring. Each multiplication adds about half an ulp of error.
Scalar multiplied(BodyBuilder &b, Scalar base, int exponent) {
  std::optional<Scalar> product;
  for (int rest = std::abs(exponent); rest > 0; rest >>= 1) {
    if (rest & 1)
      product = product ? b.mul(*product, base) : base;
    if (rest > 1)
      base = b.mul(base, base);
  }
  const Scalar one = b.constant(base.type, 1);
  const Scalar result = product ? *product : one;
  return exponent < 0 ? b.div(one, result) : result;
}

// Returns x^0.5 as C's pow defines it: the square root, but +0 for -0 and infinity for -infinity.
Scalar squareRootPower(BodyBuilder &b, Scalar x) {
  Scalar root = b.unary(Unary::kSqrt, b.add(x, b.constant(x.type, 0)));
  Scalar isLowest = b.compare(Compare::kEqual, x, b.constant(x.type, -INFINITY));
  return b.select(isLowest, b.constant(x.type, INFINITY), root);
}

// Returns whether a number of any type is an odd integer.
Scalar isOddNumber(BodyBuilder &b, Scalar n) {
  if (!isFloat(n.type))
    return b.compare(Compare::kNotEqual, b.andBits(n, b.constantInt(n.type, 1)),
                     b.constantInt(n.type, 0));
  const Scalar half = b.mul(n, b.constant(n.type, 0.5));
  return b.andBits(b.compare(Compare::kEqual, b.unary(Unary::kFloor, n), n),
                   b.compare(Compare::kNotEqual, b.unary(Unary::kFloor, half), half));
}

// Returns the exponent rounded to `type`, and the exponent minus its rounded value.
std::pair<Scalar, Scalar> roundedExponent(BodyBuilder &b, Scalar exponent, DType type) {
  Scalar rounded = b.cast(exponent, type);
  if (isFloat(exponent.type)) {
    // A tiny exponent must not be rounded to 0, because the power would then be 1 for every base.
    const Scalar zero = b.constant(exponent.type, 0);
    const Scalar isTiny = b.andBits(b.compare(Compare::kLess, b.unary(Unary::kAbs, exponent),
                                              b.constant(exponent.type, 0x1p-126)),
                                    b.compare(Compare::kNotEqual, exponent, zero));
    const Scalar tiny = b.select(b.compare(Compare::kLess, exponent, zero),
                                 b.constant(type, -0x1p-126), b.constant(type, 0x1p-126));
    rounded = b.select(isTiny, tiny, rounded);
    return {rounded, b.cast(b.sub(exponent, b.cast(rounded, exponent.type)), type)};
  }
  // The difference is computed in the exponent's type. The conversion of the rounded value back to
  // this type saturates, because the largest integers are rounded up to a value outside of its
  // range.
  const DType difference = exponent.type == DType::kU32   ? DType::kI32
                           : exponent.type == DType::kU64 ? DType::kI64
                                                          : exponent.type;
  const Scalar lost = b.sub(exponent, b.castSaturating(rounded, exponent.type));
  return {rounded, b.cast(b.cast(lost, difference), type)};
}

// Returns x^exponent for a float x and an exponent of any type. If the exponent's type is wider,
// the power is computed with the exponent rounded to x's type, and multiplied by e^(lost * ln|x|),
// where `lost` is the rounding error. The exact exponent determines the sign, and whether the
// result for a negative base is NaN.
Scalar powerOfMixed(BodyBuilder &b, Scalar x, Scalar exponent) {
  const bool isWide = isFloat(exponent.type) ? exponent.type == DType::kF64 && x.type != DType::kF64
                                             : dtypeSize(exponent.type) >= dtypeSize(x.type);
  if (!isWide)
    return b.power(x, b.cast(exponent, x.type));
  const Scalar zero = b.constant(x.type, 0), one = b.constant(x.type, 1);
  const Scalar infinity = b.constant(x.type, INFINITY), base = b.unary(Unary::kAbs, x);
  const auto [rounded, lost] = roundedExponent(b, exponent, x.type);
  Scalar result = b.power(base, rounded);
  const Scalar factor = b.unary(Unary::kExp, b.mul(lost, b.unary(Unary::kLog, base)));
  // The factor is not applied to zeros, infinities, NaN and powers of 1.
  Scalar isNormal = b.andBits(b.compare(Compare::kGreater, result, zero),
                              b.compare(Compare::kLess, result, infinity));
  isNormal = b.andBits(isNormal, b.compare(Compare::kNotEqual, base, one));
  isNormal = b.andBits(isNormal, b.compare(Compare::kNotEqual, lost, zero));
  result = b.select(isNormal, b.mul(result, factor), result);
  // 1 / x distinguishes -0 from +0.
  const Scalar isNegative =
      b.orBits(b.compare(Compare::kLess, x, zero), b.compare(Compare::kLess, b.div(one, x), zero));
  result = b.select(b.andBits(isNegative, isOddNumber(b, exponent)), b.unary(Unary::kNeg, result),
                    result);
  if (!isFloat(exponent.type))
    return result;
  Scalar isFraction = b.compare(Compare::kNotEqual, b.unary(Unary::kFloor, exponent), exponent);
  isFraction = b.andBits(isFraction, b.compare(Compare::kLess, x, zero));
  isFraction = b.andBits(isFraction, b.compare(Compare::kLess, base, infinity));
  return b.select(isFraction, b.constant(x.type, NAN), result);
}

// Imports Pow. A small constant integer exponent becomes multiplications, and 0.5 a square root.
void importPow(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), exponent = import.input(node, 1);
  std::optional<double> known;
  if (exponent.constant && (exponent.constant->splat || exponent.constant->elementCount() == 1))
    known = exponent.constant->floatAt(0);
  const DType type = x.type;
  const bool multiply = known && *known == std::floor(*known) &&
                        (isFloat(type) ? *known >= -1 && *known <= 4 : *known >= 0 && *known <= 16);
  if (multiply || (known == 0.5 && isFloat(type))) {
    auto y = import.elementwise({x}, type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
      return multiply ? multiplied(b, in[0], static_cast<int>(*known)) : squareRootPower(b, in[0]);
    });
    // The result also broadcasts to the exponent's shape.
    Dims dims = import.broadcastDims({x, exponent});
    return import.setOutput(node, 0, broadcastTo(import, y, dims));
  }
  auto y = import.elementwise({x, exponent}, type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    if (isFloat(type))
      return powerOfMixed(b, in[0], in[1]);
    if (!isFloat(exponent.type))
      return b.integerPower(in[0], in[1]);
    Scalar power = in[1];
    return b.castSaturating(b.power(b.cast(in[0], power.type), power), type);
  });
  import.setOutput(node, 0, y);
}

void importMod(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0), b = import.input(node, 1);
  if (a.type != b.type)
    failBadInput("its operands must have the same type, but are " + dtypeName(a.type) + " and " +
                 dtypeName(b.type));
  const bool fmod = node.intAttribute("fmod", 0) != 0;
  if (isFloat(a.type) && !fmod)
    failBadInput("Mod of floats needs fmod = 1");
  auto remainder = [](Dim x, Dim y) {
    return staticDim(y) && *staticDim(y) > 0 ? modDims(x, y) : Dim();
  };
  // The result of modDims has the divisor's sign, while fmod = 1 requires the dividend's sign.
  if (auto folded = fmod ? std::nullopt : foldSymbolic(import, a, b, remainder))
    return import.setOutput(node, 0, *folded);
  Tensor result =
      import.elementwise({a, b}, a.type, [&](BodyBuilder &body, llvm::ArrayRef<Scalar> x) {
        return fmod ? body.rem(x[0], x[1]) : body.floorMod(x[0], x[1]);
      });
  import.setOutput(node, 0, result);
}

void importBitShift(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0), b = import.input(node, 1);
  const std::string direction = node.stringAttribute("direction", "");
  const bool left = direction == "LEFT";
  if (!left && direction != "RIGHT")
    failBadInput("the direction is \"" + direction + "\"; it must be LEFT or RIGHT");
  Tensor result =
      import.elementwise({a, b}, a.type, [&](BodyBuilder &body, llvm::ArrayRef<Scalar> x) {
        return left ? body.shiftLeft(x[0], x[1]) : body.shiftRight(x[0], x[1]);
      });
  import.setOutput(node, 0, result);
}

void importWhere(ImportContext &import, const Node &node) {
  Tensor condition = import.input(node, 0), a = import.input(node, 1), b = import.input(node, 2);
  if (condition.type != DType::kBool || a.type != b.type)
    failBadInput("the condition must be bool, and both values must have the same type; they are " +
                 dtypeName(condition.type) + ", " + dtypeName(a.type) + " and " +
                 dtypeName(b.type));
  size_t count = 1; // The length of the result, if all operands are lists.
  const auto fits = [&](size_t size) {
    if (size != 1 && count == 1)
      count = size;
    return size == 1 || size == count;
  };
  if (condition.constant && a.content && b.content && !(a.constant && b.constant) &&
      condition.rank() <= 1 && a.rank() <= 1 && b.rank() <= 1 &&
      fits(size_t(condition.constant->elementCount())) && fits(a.content->size()) &&
      fits(b.content->size()) && count <= size_t(kMaxContentElements)) {
    llvm::SmallVector<Dim> out;
    for (size_t i = 0; i < count; ++i) {
      bool holds = condition.constant->at(condition.constant->elementCount() == 1 ? 0 : i).i != 0;
      const auto &from = holds ? *a.content : *b.content;
      out.push_back(from[from.size() == 1 ? 0 : i]);
    }
    bool scalar = condition.rank() + a.rank() + b.rank() == 0;
    return import.setOutput(node, 0, import.fromContent(a.type, out, scalar));
  }
  Tensor result = import.elementwise(
      {condition, a, b}, a.type,
      [](BodyBuilder &body, llvm::ArrayRef<Scalar> x) { return body.select(x[0], x[1], x[2]); });
  import.setOutput(node, 0, result);
}

DType legacyType(llvm::StringRef name) {
  static const std::pair<llvm::StringRef, DType> kNames[] = {
      {"FLOAT", DType::kF32},  {"UINT8", DType::kU8},   {"INT8", DType::kI8},
      {"UINT16", DType::kU16}, {"INT16", DType::kI16},  {"INT32", DType::kI32},
      {"INT64", DType::kI64},  {"BOOL", DType::kBool},  {"FLOAT16", DType::kF16},
      {"DOUBLE", DType::kF64}, {"UINT32", DType::kU32}, {"UINT64", DType::kU64}};
  for (auto &[known, type] : kNames)
    if (known == name)
      return type;
  failUnsupported("a cast to " + name + " is not supported");
}

void importCast(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  DType to = node.opset() < 6 ? legacyType(node.stringAttribute("to", ""))
                              : dtypeFromOnnx(int(node.intAttribute("to", 0)));
  import.setOutput(node, 0, import.castByModel(x, to));
}

void importCastLike(ImportContext &import, const Node &node) {
  import.setOutput(node, 0, import.castByModel(import.input(node, 0), import.input(node, 1).type));
}

} // namespace

void addElementwiseOperators(OperatorTable &table) {
  table["Add"] = importBinary<add, addDims>;
  table["Sub"] = importBinary<sub, subDims>;
  table["Mul"] = importBinary<mul, mulDims>;
  table["Div"] = importDiv;
  table["Min"] = importVariadic<min, minOfSizes>;
  table["Max"] = importVariadic<max, maxOfSizes>;
  table["Sum"] = importVariadic<add, addDims>;
  table["Mean"] = importVariadic<add>;
  table["And"] = importBinary<bitAnd>;
  table["Or"] = importBinary<bitOr>;
  table["Xor"] = importBinary<bitXor>;
  table["BitwiseAnd"] = importBinary<bitAnd>;
  table["BitwiseOr"] = importBinary<bitOr>;
  table["BitwiseXor"] = importBinary<bitXor>;
  table["BitwiseNot"] = importUnary<bitNot>;
  table["BitShift"] = importBitShift;
  table["Not"] = importUnary<notBool>;
  table["Equal"] = importCompare<Compare::kEqual>;
  table["Less"] = importCompare<Compare::kLess>;
  table["LessOrEqual"] = importCompare<Compare::kLessEqual>;
  table["Greater"] = importCompare<Compare::kGreater>;
  table["GreaterOrEqual"] = importCompare<Compare::kGreaterEqual>;
  table["Pow"] = importPow;
  table["Mod"] = importMod;
  table["Where"] = importWhere;
  table["Cast"] = importCast;
  table["CastLike"] = importCastLike;
  table["Abs"] = importUnary<apply<Unary::kAbs>>;
  table["Neg"] = importNeg;
  table["Exp"] = importUnary<apply<Unary::kExp>>;
  table["Log"] = importUnary<apply<Unary::kLog>>;
  table["Sqrt"] = importUnary<apply<Unary::kSqrt>>;
  table["Erf"] = importUnary<apply<Unary::kErf>>;
  table["Tanh"] = importUnary<apply<Unary::kTanh>>;
  table["Sin"] = importUnary<apply<Unary::kSin>>;
  table["Cos"] = importUnary<apply<Unary::kCos>>;
  table["Tan"] = importUnary<apply<Unary::kTan>>;
  table["Asin"] = importUnary<apply<Unary::kAsin>>;
  table["Acos"] = importUnary<apply<Unary::kAcos>>;
  table["Atan"] = importUnary<apply<Unary::kAtan>>;
  table["Sinh"] = importUnary<apply<Unary::kSinh>>;
  table["Cosh"] = importUnary<apply<Unary::kCosh>>;
  table["Asinh"] = importUnary<apply<Unary::kAsinh>>;
  table["Acosh"] = importUnary<apply<Unary::kAcosh>>;
  table["Atanh"] = importUnary<apply<Unary::kAtanh>>;
  table["Floor"] = importRounding<Unary::kFloor>;
  table["Ceil"] = importRounding<Unary::kCeil>;
  table["Round"] = importRounding<Unary::kRoundEven>;
  table["Reciprocal"] = importUnary<reciprocal>;
  table["Sign"] = importUnary<sign>;
  table["IsNaN"] = importIsNaN;
  table["IsInf"] = importIsInf;
}

} // namespace gantry::importer

// Imports quantised operators. An 8- or 16-bit integer q of a quantised tensor represents the
// number (q - zero point) * scale. The arithmetic follows the ONNX operator specification: rounding
// is half to even, results saturate, and products of integers are summed in i32.
//
// DequantizeLinear of constants is not folded (computed during the import), so that weights keep
// the size that they have in the model. The pass sum-integers (codegen/passes) turns a convolution
// or matmul of two dequantised tensors into one of integers. It recognises DequantizeLinear by the
// body that is built here.
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/operators/conv.h"
#include "codegen/import/onnx/operators/matmul.h"
#include "codegen/import/onnx/operators/reduce.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>

namespace gantry::importer {

namespace {

bool isNarrowInteger(DType type) {
  return type == DType::kI8 || type == DType::kU8 || type == DType::kI16 || type == DType::kU16;
}

void checkQuantized(const Tensor &tensor, const char *what) {
  if (!isNarrowInteger(tensor.type))
    failBadInput(llvm::Twine(what) + " is " + dtypeName(tensor.type) +
                 "; it must be i8, u8, i16 or u16");
}

std::pair<double, double> rangeOf(DType type) {
  const double bits = static_cast<double>(8 * dtypeSize(type));
  if (isUnsigned(type))
    return {0, std::exp2(bits) - 1};
  return {-std::exp2(bits - 1), std::exp2(bits - 1) - 1};
}

/// Reads a zero point. Returns nothing if it is absent or 0 everywhere, because subtracting 0 has
/// no effect. A zero point with one element becomes a scalar.
std::optional<Tensor> zeroPoint(ImportContext &import, const Node &node, size_t index, DType type,
                                const char *what) {
  std::optional<Tensor> zero = import.optionalInput(node, index);
  if (!zero)
    return std::nullopt;
  if (zero->type != type)
    failBadInput(llvm::Twine(what) + "'s zero point is " + dtypeName(zero->type) + ", but " + what +
                 " is " + dtypeName(type));
  if (zero->constant) {
    bool none = true;
    const int64_t count = zero->constant->splat ? 1 : zero->constant->elementCount();
    for (int64_t i = 0; i < count && none; ++i)
      none = zero->constant->at(i).i == 0;
    if (none && count > 0)
      return std::nullopt;
  }
  if (zero->rank() > 0 && llvm::all_of(zero->dims, isStaticOne))
    return reshape(import, *zero, {});
  return zero;
}

Tensor asScalar(ImportContext &import, const Tensor &tensor) {
  return tensor.rank() > 0 && llvm::all_of(tensor.dims, isStaticOne) ? reshape(import, tensor, {})
                                                                     : tensor;
}

/// Returns round(x) + zero point, saturated to the type. NaN, for which the specification has no
/// rule, becomes the zero point.
Scalar saturate(BodyBuilder &b, Scalar x, std::optional<Scalar> zero, DType type) {
  auto [low, high] = rangeOf(type);
  Scalar value = b.unary(Unary::kRoundEven, x);
  value = b.select(b.isNaN(value), b.constant(DType::kF32, 0), value);
  if (zero)
    value = b.add(value, b.cast(b.cast(*zero, DType::kI32), DType::kF32));
  value = b.clamp(value, b.constant(DType::kF32, low), b.constant(DType::kF32, high));
  return b.cast(b.cast(value, DType::kI32), type);
}

/// Returns the map from the loops over x to the indices of a scale or zero point. The parameter has
/// one value per tensor, one per slice along the axis, or, if blockSize > 0, one per block of
/// blockSize elements along the axis.
mlir::AffineMap parameterMap(ImportContext &import, const Tensor &x, const Tensor &parameter,
                             int64_t axis, int64_t blockSize) {
  const unsigned loops = x.rank();
  if (parameter.rank() == 0)
    return import.map(loops, {});
  auto refuse = [&](const llvm::Twine &needed) {
    failBadInput("a scale or zero point has the shape " + describeDims(parameter.dims) +
                 " for a tensor of the shape " + describeDims(x.dims) + "; it needs " + needed);
  };
  if (blockSize > 0) {
    if (parameter.rank() != x.rank())
      refuse("the same rank with blocks of " + llvm::Twine(blockSize) + " along dimension " +
             llvm::Twine(axis));
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (unsigned i = 0; i < loops; ++i) {
      const bool blocked = i == axis;
      Dim wanted = blocked ? ceilDivDims(x.dims[i], import.number(blockSize)) : x.dims[i];
      if (staticDim(wanted) && staticDim(parameter.dims[i]) && wanted != parameter.dims[i])
        refuse(describeDims({wanted}) + " in dimension " + llvm::Twine(i));
      import.constraints().requireEqual(wanted, parameter.dims[i]);
      exprs.push_back(blocked ? import.loop(i).floorDiv(blockSize) : import.loop(i));
    }
    return import.map(loops, exprs);
  }
  if (parameter.rank() != 1)
    refuse("rank 0 or 1");
  axis = normalizeAxis(axis, x.rank());
  if (staticDim(x.dims[axis]) && staticDim(parameter.dims[0]) && x.dims[axis] != parameter.dims[0])
    refuse("one value for each of " + describeDims({x.dims[axis]}) + " along dimension " +
           llvm::Twine(axis));
  import.constraints().requireEqual(x.dims[axis], parameter.dims[0]);
  return import.map(loops, {import.loop(axis)});
}

struct Parameters {
  Tensor scale;
  std::optional<Tensor> zero;
  mlir::AffineMap scaleMap, zeroMap;
};

Parameters readParameters(ImportContext &import, const Node &node, const Tensor &x, DType zeroType,
                          const char *what) {
  const int64_t blockSize = node.intAttribute("block_size", 0);
  if (blockSize < 0)
    failBadInput("block_size is " + llvm::Twine(blockSize) + "; it must be at least 0");
  int64_t axis = node.intAttribute("axis", 1);
  if (blockSize > 0)
    axis = normalizeAxis(axis, x.rank());
  Parameters p;
  p.scale = asScalar(import, import.input(node, 1));
  if (!isFloat(p.scale.type))
    failBadInput("the scale is " + dtypeName(p.scale.type) + "; it must be a float");
  p.scaleMap = parameterMap(import, x, p.scale, axis, p.scale.rank() ? blockSize : 0);
  p.zero = zeroPoint(import, node, 2, zeroType, what);
  if (p.zero)
    p.zeroMap = parameterMap(import, x, *p.zero, axis, p.zero->rank() ? blockSize : 0);
  return p;
}

GenericSpec pointwise(const Tensor &x, DType resultType, ImportContext &import) {
  GenericSpec spec;
  spec.reduction.assign(x.rank(), false);
  spec.resultType = resultType;
  spec.resultDims = x.dims;
  spec.inputs.push_back(
      {x, mlir::AffineMap::getMultiDimIdentityMap(x.rank(), import.mlirContext())});
  return spec;
}

// Imports DequantizeLinear: y = (x - zero point) * scale.
void importDequantize(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (x.type != DType::kI32)
    checkQuantized(x, "the input");
  Parameters p = readParameters(import, node, x, x.type, "the input");
  GenericSpec spec = pointwise(x, p.scale.type, import);
  spec.inputs.push_back({p.scale, p.scaleMap});
  if (p.zero)
    spec.inputs.push_back({*p.zero, p.zeroMap});
  spec.keepsConstants = isNarrowInteger(x.type);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar) {
    Scalar value = b.cast(in[0], DType::kI32);
    // ONNX does not define a zero point for i32. If the model has one, it is subtracted in f32,
    // which does not wrap.
    if (p.zero && x.type == DType::kI32)
      value = b.sub(b.cast(value, DType::kF32), b.cast(in[2], DType::kF32));
    else if (p.zero)
      value = b.sub(value, b.cast(in[2], DType::kI32));
    return b.mul(b.cast(value, DType::kF32), b.cast(in[1], DType::kF32));
  };
  import.setOutput(node, 0, import.generic(spec));
}

// Imports QuantizeLinear: y = saturate(round(x / scale) + zero point).
void importQuantize(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  DType type = DType::kU8;
  if (node.hasInput(2))
    type = import.input(node, 2).type;
  else if (int64_t given = node.intAttribute("output_dtype", 0))
    type = dtypeFromOnnx(static_cast<int>(given));
  if (!isNarrowInteger(type))
    failUnsupported("quantisation to " + dtypeName(type) +
                    " is not supported; i8, u8, i16 and u16 are");
  Parameters p = readParameters(import, node, x, type, "the result");
  GenericSpec spec = pointwise(x, type, import);
  spec.inputs.push_back({p.scale, p.scaleMap});
  if (p.zero)
    spec.inputs.push_back({*p.zero, p.zeroMap});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar) {
    Scalar quotient = b.div(b.cast(in[0], DType::kF32), b.cast(in[1], DType::kF32));
    return saturate(b, quotient, p.zero ? std::optional(in[2]) : std::nullopt, type);
  };
  import.setOutput(node, 0, import.generic(spec));
}

// Imports DynamicQuantizeLinear. Scale and zero point are chosen so that the values 0 to 255 cover
// the range of x and 0.
void importDynamicQuantize(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    axes.push_back(i);
  Tensor low = reduceMin(import, x, axes, false), high = reduceMax(import, x, axes, false);
  using Elements = llvm::ArrayRef<Scalar>;
  auto zeroOf = [](BodyBuilder &b) { return b.constant(DType::kF32, 0); };
  Tensor scale = import.elementwise({low, high}, DType::kF32, [&](BodyBuilder &b, Elements in) {
    Scalar range = b.sub(b.max(in[1], zeroOf(b)), b.min(in[0], zeroOf(b)));
    return b.div(range, b.constant(DType::kF32, 255));
  });
  // For a tensor of zeros the scale is 0. Then 1 is the divisor instead, and the quotient is 0,
  // which is right.
  auto divisor = [&](BodyBuilder &b, Scalar value) {
    return b.select(b.compare(Compare::kEqual, value, zeroOf(b)), b.constant(DType::kF32, 1),
                    value);
  };
  Tensor zero = import.elementwise({low, scale}, DType::kU8, [&](BodyBuilder &b, Elements in) {
    Scalar minimum = b.min(in[0], zeroOf(b));
    Scalar steps = b.div(b.sub(zeroOf(b), minimum), divisor(b, in[1]));
    return saturate(b, steps, std::nullopt, DType::kU8);
  });
  Tensor y = import.elementwise({x, scale, zero}, DType::kU8, [&](BodyBuilder &b, Elements in) {
    return saturate(b, b.div(in[0], divisor(b, in[1])), in[2], DType::kU8);
  });
  import.setOutput(node, 0, y);
  if (node.hasOutput(1))
    import.setOutput(node, 1, scale);
  if (node.hasOutput(2))
    import.setOutput(node, 2, zero);
}

// ---- sums of integer products ------------------------------------------------------------------

/// Returns (a - zero point of a) * (b - zero point of b) in i32. `in` has a, b, and those zero
/// points that exist.
Scalar integerTerm(BodyBuilder &b, llvm::ArrayRef<Scalar> in, bool hasFirst, bool hasSecond) {
  Scalar first = b.cast(in[0], DType::kI32), second = b.cast(in[1], DType::kI32);
  if (hasFirst)
    first = b.sub(first, b.cast(in[2], DType::kI32));
  if (hasSecond)
    second = b.sub(second, b.cast(in.back(), DType::kI32));
  return b.mul(first, second);
}

Tensor convolveIntegers(ImportContext &import, const Node &node, Tensor x, const Tensor &filter,
                        std::optional<Tensor> xZero, const std::optional<Tensor> &filterZero) {
  checkQuantized(x, "the input");
  checkQuantized(filter, "the filter");
  if (xZero && xZero->rank() != 0)
    failUnsupported("the input has a zero point per channel; only one per tensor is supported");
  if (filterZero && filterZero->rank() > 1)
    failBadInput("the filter's zero point has the shape " + describeDims(filterZero->dims) +
                 "; it needs rank 0 or 1");
  ConvolutionSum sum;
  sum.resultType = DType::kI32;
  if (xZero && xZero->constant) {
    sum.padding = xZero->constant->at(0); // The quantised form of 0.
  } else if (xZero) {
    x = import.elementwise({x, *xZero}, DType::kI32, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
      return b.sub(b.cast(in[0], DType::kI32), b.cast(in[1], DType::kI32));
    });
    xZero = std::nullopt;
  }
  if (xZero)
    sum.perChannel.push_back(*xZero);
  if (filterZero)
    sum.perChannel.push_back(*filterZero);
  sum.term = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    return integerTerm(b, in, xZero.has_value(), filterZero.has_value());
  };
  return convolve(import, node, x, filter, sum);
}

Tensor multiplyIntegers(ImportContext &import, const Tensor &a, const Tensor &b,
                        const std::optional<Tensor> &aZero, const std::optional<Tensor> &bZero) {
  checkQuantized(a, "A");
  checkQuantized(b, "B");
  MatrixSum sum;
  sum.resultType = DType::kI32;
  sum.ofA = aZero;
  sum.ofB = bZero;
  sum.term = [&](BodyBuilder &builder, llvm::ArrayRef<Scalar> in) {
    return integerTerm(builder, in, aZero.has_value(), bZero.has_value());
  };
  return multiplyMatrices(import, a, b, sum);
}

void importConvInteger(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), filter = import.input(node, 1);
  auto xZero = zeroPoint(import, node, 2, x.type, "the input");
  auto filterZero = zeroPoint(import, node, 3, filter.type, "the filter");
  import.setOutput(node, 0, convolveIntegers(import, node, x, filter, xZero, filterZero));
}

void importMatMulInteger(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0), b = import.input(node, 1);
  auto aZero = zeroPoint(import, node, 2, a.type, "A");
  auto bZero = zeroPoint(import, node, 3, b.type, "B");
  import.setOutput(node, 0, multiplyIntegers(import, a, b, aZero, bZero));
}

/// Returns saturate(round(sum * (scale of a * scale of b / scale of y)) + zero point of y). A scale
/// that is not a scalar must broadcast against the sum.
Tensor requantize(ImportContext &import, const Tensor &sum, const Tensor &aScale,
                  const Tensor &bScale, const Tensor &yScale, const Node &node, size_t yZeroIndex) {
  Tensor yZero = asScalar(import, import.input(node, yZeroIndex));
  checkQuantized(yZero, "the result");
  if (yScale.rank() != 0 || yZero.rank() != 0)
    failUnsupported(
        "the result has a scale or zero point per channel; only one per tensor is supported");
  Tensor factor = import.elementwise(
      {aScale, bScale, yScale}, DType::kF32, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        return b.div(b.mul(b.cast(in[0], DType::kF32), b.cast(in[1], DType::kF32)),
                     b.cast(in[2], DType::kF32));
      });
  return import.elementwise(
      {sum, factor, yZero}, yZero.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        return saturate(b, b.mul(b.cast(in[0], DType::kF32), in[1]), in[2], yZero.type);
      });
}

// The inputs are x, its scale and zero point; the filter, its scale and zero point; the scale and
// zero point of y; the bias (i32).
void importQLinearConv(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), filter = import.input(node, 3);
  auto xZero = zeroPoint(import, node, 2, x.type, "the input");
  auto filterZero = zeroPoint(import, node, 5, filter.type, "the filter");
  Tensor sum = convolveIntegers(import, node, x, filter, xZero, filterZero);
  if (auto bias = import.optionalInput(node, 8)) {
    if (bias->type != DType::kI32)
      failBadInput("the bias is " + dtypeName(bias->type) + "; it must be i32");
    sum = addChannelBias(import, sum, *bias);
  }
  Tensor filterScale = asScalar(import, import.input(node, 4));
  if (filterScale.rank() == 1) { // One scale per output channel.
    Dims column(sum.rank() - 1, import.number(1));
    column[0] = filterScale.dims[0];
    filterScale = reshape(import, filterScale, column);
  }
  import.setOutput(node, 0,
                   requantize(import, sum, asScalar(import, import.input(node, 1)), filterScale,
                              asScalar(import, import.input(node, 6)), node, 7));
}

// The inputs are a, its scale and zero point; b, its scale and zero point; the scale and zero point
// of y.
void importQLinearMatMul(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0), b = import.input(node, 3);
  auto aZero = zeroPoint(import, node, 2, a.type, "A");
  auto bZero = zeroPoint(import, node, 5, b.type, "B");
  Tensor sum = multiplyIntegers(import, a, b, aZero, bZero);
  Tensor aScale = asScalar(import, import.input(node, 1));
  if (aScale.rank() == 1) // One scale per row.
    aScale = reshape(import, aScale, {aScale.dims[0], import.number(1)});
  import.setOutput(node, 0,
                   requantize(import, sum, aScale, asScalar(import, import.input(node, 4)),
                              asScalar(import, import.input(node, 6)), node, 7));
}

} // namespace

void addQuantizeOperators(OperatorTable &table) {
  table["DequantizeLinear"] = importDequantize;
  table["QuantizeLinear"] = importQuantize;
  table["DynamicQuantizeLinear"] = importDynamicQuantize;
  table["ConvInteger"] = importConvInteger;
  table["MatMulInteger"] = importMatMulInteger;
  table["QLinearConv"] = importQLinearConv;
  table["QLinearMatMul"] = importQLinearMatMul;
}

} // namespace gantry::importer

// Imports activation functions, each as one elementwise operation.
//
// The formulas avoid overflow of intermediate values and cancellation. tests/e2e/numerics measures
// the errors, and docs/numerics.md lists their bounds.
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>

namespace gantry::importer {

namespace {

/// Returns coefficients[0] * x^n + ... + coefficients[n].
Scalar polynomial(BodyBuilder &b, Scalar x, llvm::ArrayRef<double> coefficients) {
  Scalar sum = b.constant(x.type, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = b.add(b.mul(sum, x), b.constant(x.type, coefficient));
  return sum;
}

// Builds the body of an activation with one input, which may read the node's attributes.
using Activation = Scalar (*)(BodyBuilder &, const Node &, Scalar);

template <Activation activation> void importActivation(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  Tensor result = import.elementwise({x}, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    return activation(b, node, in[0]);
  });
  import.setOutput(node, 0, result);
}

Scalar relu(BodyBuilder &b, const Node &, Scalar x) { return b.max(x, b.constant(x.type, 0)); }

Scalar leakyRelu(BodyBuilder &b, const Node &node, Scalar x) {
  Scalar scaled = b.mul(x, b.constant(x.type, node.floatAttribute("alpha", 0.01)));
  return b.select(b.compare(Compare::kGreaterEqual, x, b.constant(x.type, 0)), x, scaled);
}

// Returns x, or alpha * (e^x - 1) for negative x.
Scalar eluWith(BodyBuilder &b, Scalar x, double alpha) {
  Scalar zero = b.constant(x.type, 0);
  Scalar below = b.mul(b.unary(Unary::kExpm1, x), b.constant(x.type, alpha));
  return b.select(b.compare(Compare::kGreaterEqual, x, zero), x, below);
}

Scalar elu(BodyBuilder &b, const Node &node, Scalar x) {
  return eluWith(b, x, node.floatAttribute("alpha", 1));
}

Scalar selu(BodyBuilder &b, const Node &node, Scalar x) {
  double alpha = node.floatAttribute("alpha", 1.67326319217681884765625);
  double gamma = node.floatAttribute("gamma", 1.05070102214813232421875);
  return b.mul(eluWith(b, x, alpha), b.constant(x.type, gamma));
}

Scalar celu(BodyBuilder &b, const Node &node, Scalar x) {
  Scalar zero = b.constant(x.type, 0);
  Scalar alpha = b.constant(x.type, node.floatAttribute("alpha", 1));
  Scalar below = b.mul(b.unary(Unary::kExpm1, b.div(x, alpha)), alpha);
  return b.select(b.compare(Compare::kGreaterEqual, x, zero), x, below);
}

Scalar sigmoid(BodyBuilder &b, const Node &, Scalar x) { return b.sigmoid(x); }

Scalar clampUnit(BodyBuilder &b, Scalar x) {
  return b.max(b.min(x, b.constant(x.type, 1)), b.constant(x.type, 0));
}

Scalar hardSigmoid(BodyBuilder &b, const Node &node, Scalar x) {
  Scalar scaled = b.mul(x, b.constant(x.type, node.floatAttribute("alpha", 0.2)));
  return clampUnit(b, b.add(scaled, b.constant(x.type, node.floatAttribute("beta", 0.5))));
}

Scalar hardSwish(BodyBuilder &b, const Node &, Scalar x) {
  Scalar scaled = b.mul(x, b.constant(x.type, 1.0 / 6));
  return b.mul(x, clampUnit(b, b.add(scaled, b.constant(x.type, 0.5))));
}

Scalar softplus(BodyBuilder &b, const Node &, Scalar x) {
  // max(x, 0) + log(1 + e^-|x|) cannot overflow.
  Scalar decay = b.unary(Unary::kExp, b.unary(Unary::kNeg, b.unary(Unary::kAbs, x)));
  return b.add(b.max(x, b.constant(x.type, 0)), b.unary(Unary::kLog1p, decay));
}

Scalar softsign(BodyBuilder &b, const Node &, Scalar x) {
  return b.div(x, b.add(b.constant(x.type, 1), b.unary(Unary::kAbs, x)));
}

// Returns x * tanh(ln(1 + e^x)). With w = e^-|x| this equals x * w * (2 + w) / (2 + 2 w + w^2) for
// negative x and x - 2 x w^2 / (1 + 2 w + 2 w^2) otherwise. Neither formula cancels.
Scalar mish(BodyBuilder &b, const Node &, Scalar x) {
  auto number = [&](double value) { return b.constant(x.type, value); };
  const auto [power, rest] = b.decay(x);
  const Scalar w = b.mul(power, rest), square = b.mul(number(2), b.mul(w, w));
  // The quotient (2 + w) / (2 + 2 w + w^2) for negative x. In f32 it is computed as 1 - w * p(w),
  // where p is a Chebyshev fit with an error of 7e-9.
  Scalar quotient = b.add(number(2), w);
  if (x.type == DType::kF64) { // Only the host computes this in f64 (device_types.h).
    quotient = b.div(quotient, b.add(b.mul(w, quotient), number(2)));
  } else {
    const Scalar p = polynomial(
        b, w,
        {-2.88497446205e-3, 1.6659234145e-2, -4.05234375783e-2, 4.62249748178e-2, 7.15380749287e-3,
         -1.26896631777e-1, 2.50288730204e-1, -2.500223769e-1, 6.7498019266e-7, 4.99999996628e-1});
    quotient = b.sub(number(1), b.mul(w, p));
  }
  const Scalar below = b.mul(b.mul(b.mul(x, power), rest), quotient);
  const Scalar denominator = b.add(b.add(number(1), b.mul(number(2), w)), square);
  // x is bounded, because infinity * 0 would be NaN.
  const Scalar bounded = b.min(x, number(1e4));
  const Scalar above = b.sub(x, b.mul(bounded, b.div(square, denominator)));
  // The comparison includes 0, because `below` keeps the sign of -0.
  return b.select(b.compare(Compare::kLessEqual, x, number(0)), below, above);
}

Scalar swish(BodyBuilder &b, const Node &node, Scalar x) {
  const double alpha = node.floatAttribute("alpha", 1);
  if (alpha == 1)
    return b.timesSigmoid(x, x);
  Scalar factor = b.constant(x.type, alpha), product = b.mul(factor, x);
  // If |product| is at least 1024, the sigmoid is 0 or 1. The error term is not used there, because
  // it is NaN if the product is infinite.
  Scalar isSmall =
      b.compare(Compare::kLess, b.unary(Unary::kAbs, product), b.constant(x.type, 1024));
  Scalar low = b.productError(factor, x, product);
  return b.timesSigmoid(x, product, b.select(isSmall, low, b.constant(x.type, 0)));
}

Scalar thresholdedRelu(BodyBuilder &b, const Node &node, Scalar x) {
  Scalar alpha = b.constant(x.type, node.floatAttribute("alpha", 1));
  return b.select(b.compare(Compare::kGreater, x, alpha), x, b.constant(x.type, 0));
}

Scalar shrink(BodyBuilder &b, const Node &node, Scalar x) {
  double lambda = node.floatAttribute("lambd", 0.5);
  Scalar bias = b.constant(x.type, node.floatAttribute("bias", 0));
  Scalar below = b.compare(Compare::kLess, x, b.constant(x.type, -lambda));
  Scalar above = b.compare(Compare::kGreater, x, b.constant(x.type, lambda));
  return b.select(below, b.add(x, bias), b.select(above, b.sub(x, bias), b.constant(x.type, 0)));
}

// Returns x / 2 * (1 + tanh(z / 2)), which equals x * sigmoid(z), with z = x * (a + c * x^2). z is
// computed as a sum of two floats, because sigmoid amplifies a relative error of z by up to |z|.
Scalar geluByTanh(BodyBuilder &b, Scalar x) {
  const double linear = 2 * std::sqrt(2 / M_PI), cubic = linear * 0.044715;
  auto split = [&](double value) {
    const double high = x.type == DType::kF64 ? value : static_cast<float>(value);
    return std::pair(b.constant(x.type, high), b.constant(x.type, value - high));
  };
  const auto [a, aLow] = split(linear);
  const auto [c, cLow] = split(cubic);
  // x is clamped to a range outside of which the sigmoid is 0 or 1, so that squares do not
  // overflow.
  Scalar limit = b.constant(x.type, 32), lowest = b.constant(x.type, -32);
  Scalar t = b.min(b.max(x, lowest), limit);
  Scalar square = b.mul(t, t), squareLow = b.productError(t, t, square);
  Scalar product = b.mul(c, square);
  Scalar productLow =
      b.add(b.productError(c, square, product), b.add(b.mul(c, squareLow), b.mul(cLow, square)));
  // TwoSum computes the exact rounding error of a + product for operands of any size (D. Knuth,
  // "The Art of Computer Programming", volume 2, section 4.2.2).
  Scalar sum = b.add(a, product), part = b.sub(sum, a);
  Scalar sumLow = b.add(b.sub(a, b.sub(sum, part)), b.sub(product, part));
  sumLow = b.add(sumLow, b.add(productLow, aLow));
  Scalar z = b.mul(t, sum);
  Scalar zLow = b.add(b.productError(t, sum, z), b.mul(t, sumLow));
  return b.timesSigmoid(x, z, zLow);
}

// Returns the GELU as x * (1/2 + x * p(x^2)), for |x| below 0.75. p is the polynomial for erf from
// codegen/targets/accurate_math.cpp, with its argument scaled by sqrt(1/2).
Scalar geluOfSmall(BodyBuilder &b, Scalar x) {
  llvm::SmallVector<double> coefficients{
      7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3, -2.685381193529856e-2,
      1.128358514861418e-1, -3.761262582423300e-1, 1.128379165726710};
  double scale = std::sqrt(0.125);
  for (double &coefficient : llvm::reverse(coefficients)) {
    coefficient *= scale;
    scale /= 2;
  }
  const Scalar p = polynomial(b, b.mul(x, x), coefficients);
  return b.mul(x, b.add(b.constant(x.type, 0.5), b.mul(x, p)));
}

// Returns x / 2 * erfc(-x / sqrt(2)). For positive t, erfc(t) is e^(-t^2) times a slowly varying
// function, and erfc(-t) is 2 - erfc(t), so no two nearly equal numbers are subtracted for negative
// x. t^2 = x^2 / 2 is computed as a sum of two floats, because e^(-t^2) amplifies a relative error
// of t^2 by t^2.
Scalar gelu(BodyBuilder &b, const Node &node, Scalar x) {
  if (node.stringAttribute("approximate", "none") == "tanh")
    return geluByTanh(b, x);
  auto number = [&](double value) { return b.constant(x.type, value); };
  if (x.type == DType::kF64) { // Only the host computes this in f64 (device_types.h).
    Scalar e = b.unary(Unary::kErf, b.mul(x, number(1 / std::sqrt(2.0))));
    return b.mul(b.mul(x, number(0.5)), b.add(number(1), e));
  }
  Scalar size = b.unary(Unary::kAbs, x), magnitude = b.min(size, number(16));
  // With t = |x| / sqrt(2), p approximates sqrt(1/8) * (1 + 2 t) * e^(t^2) * erfc(t) - 1/2. The
  // code below multiplies by x and adds the 1/2 back as x / 2, which is exact. p is a Chebyshev fit
  // in (t - 2) / (t + 2) for t from 0.525 to 9.5, with an error of 4e-9.
  const Scalar two = number(2 * std::sqrt(2.0)), one = number(std::sqrt(0.5));
  const Scalar p = polynomial(
      b, b.div(b.sub(magnitude, two), b.add(magnitude, two)),
      {-9.02682725903e-5, -4.48507937521e-4, 4.15267361552e-4, 3.06211807886e-3, -2.83347571375e-3,
       -1.91666930762e-2, 5.8000327272e-2, -5.87007542487e-2, -3.2796953297e-2, -4.8519962349e-2});
  // e^-(square / 2 + low) is about e^-(square / 2) / (1 + low), where square / 2 + low is t^2. The
  // divisor contains the factor 1 + low.
  const Scalar square = b.mul(magnitude, magnitude);
  const Scalar low = b.mul(b.productError(magnitude, magnitude, square), number(0.5));
  const Scalar divisor = b.add(magnitude, b.add(one, b.mul(b.add(magnitude, one), low)));
  // x is bounded to a range outside of which the power is 0, because 0 * infinity would be NaN.
  const Scalar isLarge = b.compare(Compare::kGreater, x, number(16));
  const Scalar bounded = b.select(isLarge, number(16), x);
  const Scalar scaled = b.add(b.mul(bounded, number(0.5)), b.mul(bounded, p));
  const Scalar tail =
      b.mul(b.div(scaled, divisor), b.unary(Unary::kExp, b.mul(square, number(-0.5))));
  const Scalar large = b.select(b.compare(Compare::kGreater, x, number(0)), b.sub(x, tail), tail);
  return b.select(b.compare(Compare::kLess, size, number(0.75)), geluOfSmall(b, x), large);
}

void importPRelu(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), slope = import.input(node, 1);
  // Before opset 7, a slope of rank 1 has one value per channel.
  if (node.opset() < 7 && slope.rank() == 1 && x.rank() > 2 && !isStaticOne(slope.dims[0])) {
    Dims column(x.rank() - 1, import.number(1));
    column[0] = slope.dims[0];
    slope = reshape(import, slope, column);
  }
  Tensor result =
      import.elementwise({x, slope}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        Scalar zero = b.constant(in[0].type, 0);
        Scalar positive = b.compare(Compare::kGreaterEqual, in[0], zero);
        return b.select(positive, in[0], b.mul(in[0], in[1]));
      });
  import.setOutput(node, 0, result);
}

void importClip(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  std::optional<Tensor> low, high;
  if (node.opset() < 11) {
    if (node.hasAttribute("min"))
      low = import.scalar(x.type, node.floatAttribute("min", 0));
    if (node.hasAttribute("max"))
      high = import.scalar(x.type, node.floatAttribute("max", 0));
  } else {
    low = import.optionalInput(node, 1);
    high = import.optionalInput(node, 2);
  }
  for (const auto &limit : {low, high}) {
    if (limit && limit->type != x.type)
      failBadInput("the input is " + dtypeName(x.type) + ", but a limit is " +
                   dtypeName(limit->type));
    if (limit && limit->constant && limit->constant->elementCount() != 1)
      failBadInput("a limit must be one number; it has the shape " + describeDims(limit->dims));
  }
  llvm::SmallVector<Tensor> operands{x};
  // A constant limit becomes a constant of the body, and a computed limit an operand.
  auto known = [](const std::optional<Tensor> &t) { return t && t->constant; };
  for (const auto &limit : {low, high})
    if (limit && !limit->constant)
      operands.push_back(*limit);
  auto y = import.elementwise(operands, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    Scalar value = in[0];
    size_t next = 1;
    auto bound = [&](const std::optional<Tensor> &limit) {
      if (!known(limit))
        return in[next++];
      Number n = limit->constant->at(0);
      return isFloat(x.type) ? b.constant(x.type, n.f) : b.constantInt(x.type, n.i);
    };
    if (low)
      value = b.max(value, bound(low));
    if (high)
      value = b.min(value, bound(high));
    return value;
  });
  import.setOutput(node, 0, y);
}

} // namespace

void addActivationOperators(OperatorTable &table) {
  table["Relu"] = importActivation<relu>;
  table["LeakyRelu"] = importActivation<leakyRelu>;
  table["Elu"] = importActivation<elu>;
  table["Selu"] = importActivation<selu>;
  table["Celu"] = importActivation<celu>;
  table["Sigmoid"] = importActivation<sigmoid>;
  table["HardSigmoid"] = importActivation<hardSigmoid>;
  table["HardSwish"] = importActivation<hardSwish>;
  table["Softplus"] = importActivation<softplus>;
  table["Softsign"] = importActivation<softsign>;
  table["Mish"] = importActivation<mish>;
  table["Swish"] = importActivation<swish>;
  table["ThresholdedRelu"] = importActivation<thresholdedRelu>;
  table["Shrink"] = importActivation<shrink>;
  table["Gelu"] = importActivation<gelu>;
  table["PRelu"] = importPRelu;
  table["Clip"] = importClip;
}

} // namespace gantry::importer

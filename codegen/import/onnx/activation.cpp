// Activation functions: one elementwise operation each.
#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>

namespace gantry::importer {

namespace {

// One input; the body sees the element and the node's attributes.
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
  return b.select(b.compare(Compare::GreaterEqual, x, b.constant(x.type, 0)), x, scaled);
}

// alpha * (exp(x) - 1) below zero.
Scalar eluWith(BodyBuilder &b, Scalar x, double alpha) {
  Scalar zero = b.constant(x.type, 0);
  Scalar below = b.sub(b.unary(Unary::Exp, b.min(x, zero)), b.constant(x.type, 1));
  return b.select(b.compare(Compare::GreaterEqual, x, zero), x,
                  b.mul(below, b.constant(x.type, alpha)));
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
  double alpha = node.floatAttribute("alpha", 1);
  Scalar zero = b.constant(x.type, 0), a = b.constant(x.type, alpha);
  Scalar below = b.sub(b.unary(Unary::Exp, b.div(b.min(x, zero), a)), b.constant(x.type, 1));
  return b.add(b.max(x, zero), b.mul(below, a));
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
  // max(x, 0) + log(1 + exp(-|x|)): no overflow.
  Scalar decay = b.unary(Unary::Exp, b.unary(Unary::Neg, b.unary(Unary::Abs, x)));
  Scalar tail = b.unary(Unary::Log, b.add(decay, b.constant(x.type, 1)));
  return b.add(b.max(x, b.constant(x.type, 0)), tail);
}

Scalar softsign(BodyBuilder &b, const Node &, Scalar x) {
  return b.div(x, b.add(b.constant(x.type, 1), b.unary(Unary::Abs, x)));
}

Scalar mish(BodyBuilder &b, const Node &node, Scalar x) {
  return b.mul(x, b.unary(Unary::Tanh, softplus(b, node, x)));
}

Scalar swish(BodyBuilder &b, const Node &node, Scalar x) {
  double alpha = node.floatAttribute("alpha", 1);
  return b.mul(x, b.sigmoid(alpha == 1 ? x : b.mul(x, b.constant(x.type, alpha))));
}

Scalar thresholdedRelu(BodyBuilder &b, const Node &node, Scalar x) {
  Scalar alpha = b.constant(x.type, node.floatAttribute("alpha", 1));
  return b.select(b.compare(Compare::Greater, x, alpha), x, b.constant(x.type, 0));
}

Scalar shrink(BodyBuilder &b, const Node &node, Scalar x) {
  double lambda = node.floatAttribute("lambd", 0.5);
  Scalar bias = b.constant(x.type, node.floatAttribute("bias", 0));
  Scalar below = b.compare(Compare::Less, x, b.constant(x.type, -lambda));
  Scalar above = b.compare(Compare::Greater, x, b.constant(x.type, lambda));
  return b.select(below, b.add(x, bias), b.select(above, b.sub(x, bias), b.constant(x.type, 0)));
}

Scalar gelu(BodyBuilder &b, const Node &node, Scalar x) {
  Scalar one = b.constant(x.type, 1), half = b.constant(x.type, 0.5);
  if (node.stringAttribute("approximate", "none") == "tanh") {
    Scalar cube = b.mul(b.mul(x, x), x);
    Scalar inner = b.add(x, b.mul(cube, b.constant(x.type, 0.044715)));
    Scalar t = b.unary(Unary::Tanh, b.mul(inner, b.constant(x.type, std::sqrt(2 / M_PI))));
    return b.mul(b.mul(x, half), b.add(one, t));
  }
  Scalar e = b.unary(Unary::Erf, b.mul(x, b.constant(x.type, 1 / std::sqrt(2.0))));
  return b.mul(b.mul(x, half), b.add(one, e));
}

void importPRelu(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), slope = import.input(node, 1);
  // Before opset 7 a slope of rank 1 belongs to the channels.
  if (node.opset() < 7 && slope.rank() == 1 && x.rank() > 2 && !isStaticOne(slope.dims[0])) {
    Dims column(x.rank() - 1, import.number(1));
    column[0] = slope.dims[0];
    slope = import.reshape(slope, column);
  }
  Tensor result =
      import.elementwise({x, slope}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        Scalar zero = b.constant(in[0].type, 0);
        Scalar positive = b.compare(Compare::GreaterEqual, in[0], zero);
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
      failBadInput("the input is " + dtypeName(x.type) + ", a limit " + dtypeName(limit->type));
    if (limit && limit->constant && limit->constant->elementCount() != 1)
      failBadInput("a limit must be one number; it has the shape " + describeDims(limit->dims));
  }
  llvm::SmallVector<Tensor> operands{x};
  // A known limit is a constant of the body, an unknown one an operand.
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

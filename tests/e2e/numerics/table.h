// Helpers to write the cases of the special-value test's table (operators.h).
#pragma once

#include "tests/e2e/numerics/operators.h"
#include "tests/support/onnx_model.h"

#include <quadmath.h>

namespace gantry::numerics {

using Types = std::vector<Type>;
using Args = const std::vector<Number> &;

inline const Types kFloats = {GANTRY_TYPE_F32, GANTRY_TYPE_F16, GANTRY_TYPE_F64, GANTRY_TYPE_BF16};
inline const Types kSigned = {GANTRY_TYPE_I8, GANTRY_TYPE_I16, GANTRY_TYPE_I32, GANTRY_TYPE_I64};
inline const Types kUnsigned = {GANTRY_TYPE_U8, GANTRY_TYPE_U16, GANTRY_TYPE_U32, GANTRY_TYPE_U64};
inline const Types kLarge = {GANTRY_TYPE_I32, GANTRY_TYPE_I64, GANTRY_TYPE_U32, GANTRY_TYPE_U64};
inline const Types kBool = {GANTRY_TYPE_BOOL};

inline Types operator+(Types a, const Types &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline const Types kIntegers = kSigned + kUnsigned;
inline const Types kNumbers = kFloats + kIntegers;

inline Expected ofFloat(Quad value) {
  Expected e;
  e.value.f = value;
  return e;
}

inline Expected ofInteger(Wide value) {
  Expected e;
  e.value.i = value;
  return e;
}

/// Sets Expected::scale.
inline Expected withScale(Expected e, Quad scale) {
  e.scale = scale;
  return e;
}

inline Expected undefined() {
  Expected e;
  e.undefined = true;
  return e;
}

/// Return the maximum and minimum of IEEE 754-2019: NaN if an operand is NaN; +0 is above -0.
inline Quad maximum(Quad a, Quad b) {
  if (isnanq(a) || isnanq(b))
    return nanq("");
  return a == b ? (signbitq(a) ? b : a) : std::max(a, b);
}
inline Quad minimum(Quad a, Quad b) { return -maximum(-a, -b); }

/// The arithmetic of kernels for one element type: every step is rounded to the type in which
/// kernels compute.
struct Arithmetic {
  Type type;
  Quad step(Quad value) const { return rounded(computeType(type), value); }
};

inline std::string floatText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

class Table {
public:
  std::vector<Case> list;

  Case &add(const std::string &op, const Types &types, Type result, Reference reference,
            double bound = 0) {
    Case c;
    c.op = op;
    c.types = types;
    c.result = result;
    c.reference = std::move(reference);
    c.boundUlp = bound;
    list.push_back(std::move(c));
    return list.back();
  }

  /// Adds an operator with `arity` inputs of one type, for each type.
  template <typename MakeReference>
  void each(const std::string &op, const Types &types, size_t arity, MakeReference make) {
    for (Type type : types)
      add(op, Types(arity, type), type, make(type));
  }

  /// Adds a function whose results need not be exactly rounded. For f64 it is only folded on the
  /// host.
  void elementary(const std::string &op, std::function<Quad(Quad)> f,
                  const std::string &variant = "",
                  std::function<void(onnx::NodeProto &)> attributes = {}, double bound = kUlp) {
    for (Type type : kFloats) {
      Case &c = add(
          op, {type}, type,
          [=](Args x, size_t) {
            // The host computes Gelu of f64 with 1 + erf(x), which cancels for negative x.
            const bool cancels = op == "Gelu" && type == GANTRY_TYPE_F64;
            return withScale(ofFloat(f(x[0].f)), cancels ? fabsq(x[0].f) : 0);
          },
          bound);
      c.variant = variant;
      c.attributes = attributes;
      c.foldedOnly = type == GANTRY_TYPE_F64;
    }
  }

  /// Adds a formula whose steps are each rounded correctly.
  void steps(const std::string &op, std::function<Quad(Arithmetic, Quad)> f,
             const std::string &variant = "",
             std::function<void(onnx::NodeProto &)> attributes = {}) {
    for (Type type : kFloats) {
      Case &c = add(op, {type}, type,
                    [f, type](Args x, size_t) { return ofFloat(f(Arithmetic{type}, x[0].f)); });
      c.variant = variant;
      c.attributes = attributes;
    }
  }

  static constexpr double kUlp = 4; // Max error of elementary functions.
};

inline std::function<void(onnx::NodeProto &)>
floatAttributes(std::vector<std::pair<std::string, float>> values) {
  return [values](onnx::NodeProto &node) {
    for (const auto &[name, value] : values) {
      onnx::AttributeProto &a = *node.add_attribute();
      a.set_name(name);
      a.set_type(onnx::AttributeProto::FLOAT);
      a.set_f(value);
    }
  };
}

inline std::function<void(onnx::NodeProto &)> intAttribute(const std::string &name, int64_t value) {
  return [name, value](onnx::NodeProto &node) { test::OnnxModel::attribute(node, name, value); };
}

inline std::function<void(onnx::NodeProto &)> textAttribute(const std::string &name,
                                                            const std::string &value) {
  return [name, value](onnx::NodeProto &node) {
    onnx::AttributeProto &a = *node.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::STRING);
    a.set_s(value);
  };
}

/// Adds the reductions, Softmax, LogSoftmax and CumSum (reductions.cpp).
void addReductions(Table &t);
/// Adds QuantizeLinear and DequantizeLinear (quantization.cpp).
void addQuantization(Table &t);
/// Adds cases with constant operands for operators that are in the table (constant_operands.cpp).
void addConstantOperands(Table &t);

} // namespace gantry::numerics

#include "tests/e2e/numerics/operators.h"

#include "tests/e2e/numerics/table.h"

#include <algorithm>
#include <cmath>

namespace gantry::numerics {

namespace {

Wide floorMod(Wide a, Wide b) {
  const Wide rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

void addArithmetic(Table &t) {
  auto binary = [&](const std::string &op, auto onFloats, auto onIntegers) {
    t.each(op, kNumbers, 2, [=](Type type) -> Reference {
      if (isFloat(type))
        return [=](Args x, size_t) {
          return ofFloat(Arithmetic{type}.step(onFloats(x[0].f, x[1].f)));
        };
      return [=](Args x, size_t) { return ofInteger(wrapped(type, onIntegers(x[0].i, x[1].i))); };
    });
  };
  binary(
      "Add", [](Quad a, Quad b) { return a + b; }, [](Wide a, Wide b) { return a + b; });
  binary(
      "Sub", [](Quad a, Quad b) { return a - b; }, [](Wide a, Wide b) { return a - b; });
  binary(
      "Mul", [](Quad a, Quad b) { return a * b; },
      [](Wide a, Wide b) { return Wide(static_cast<unsigned __int128>(a) * b); });
  t.each("Div", kNumbers, 2, [](Type type) -> Reference {
    if (isFloat(type))
      return [type](Args x, size_t) { return ofFloat(Arithmetic{type}.step(x[0].f / x[1].f)); };
    return [type](Args x, size_t) {
      return x[1].i == 0 ? undefined() : ofInteger(wrapped(type, x[0].i / x[1].i));
    };
  });
  for (Type type : kIntegers)
    t.add("Mod", {type, type}, type, [](Args x, size_t) {
      return x[1].i == 0 ? undefined() : ofInteger(floorMod(x[0].i, x[1].i));
    });
  for (Type type : kNumbers) {
    Case &c = t.add("Mod", {type, type}, type, [type](Args x, size_t) {
      if (isFloat(type))
        return ofFloat(fmodq(x[0].f, x[1].f));
      return x[1].i == 0 ? undefined() : ofInteger(x[0].i % x[1].i);
    });
    c.variant = "fmod=1";
    c.attributes = intAttribute("fmod", 1);
    c.foldedOnly = type == GANTRY_TYPE_F64;
  }
  for (bool isMax : {true, false})
    t.each(isMax ? "Max" : "Min", kNumbers + kBool, 3, [=](Type type) -> Reference {
      if (isFloat(type))
        return [=](Args x, size_t) {
          auto f = isMax ? maximum : minimum;
          return ofFloat(f(f(x[0].f, x[1].f), x[2].f));
        };
      return [=](Args x, size_t) {
        return ofInteger(isMax ? std::max({x[0].i, x[1].i, x[2].i})
                               : std::min({x[0].i, x[1].i, x[2].i}));
      };
    });
  for (bool isMean : {false, true})
    t.each(isMean ? "Mean" : "Sum", kNumbers, 3, [=](Type type) -> Reference {
      return [=](Args x, size_t) {
        if (!isFloat(type))
          return ofInteger(wrapped(type, x[0].i + x[1].i + x[2].i));
        const Arithmetic a{type};
        const Quad sum = a.step(a.step(x[0].f + x[1].f) + x[2].f);
        return ofFloat(isMean ? a.step(sum / 3) : sum);
      };
    });
  for (Case &c : t.list)
    if (c.op == "Mean" && !isFloat(c.types[0]))
      c.refusal =
          std::string("is ") + gantry_type_name(c.types[0]) + "; it must be f32, f16, f64 or bf16";
}

void addComparisons(Table &t) {
  auto compare = [&](const std::string &op, const Types &types, auto holds) {
    for (Type type : types)
      t.add(op, {type, type}, GANTRY_TYPE_BOOL, [=](Args x, size_t) {
        return ofInteger(isFloat(type) ? holds(x[0].f, x[1].f) : holds(x[0].i, x[1].i));
      });
  };
  compare("Equal", kNumbers + kBool, [](auto a, auto b) { return a == b; });
  compare("Less", kNumbers + kBool, [](auto a, auto b) { return a < b; });
  compare("LessOrEqual", kNumbers + kBool, [](auto a, auto b) { return a <= b; });
  compare("Greater", kNumbers + kBool, [](auto a, auto b) { return a > b; });
  compare("GreaterOrEqual", kNumbers + kBool, [](auto a, auto b) { return a >= b; });
  auto bits = [&](const std::string &op, const Types &types, auto f) {
    t.each(op, types, 2, [=](Type type) -> Reference {
      return [=](Args x, size_t) { return ofInteger(wrapped(type, f(x[0].i, x[1].i))); };
    });
  };
  for (const char *prefix : {"", "Bitwise"}) {
    const Types types = *prefix ? kIntegers : kBool;
    bits(prefix + std::string("And"), types, [](Wide a, Wide b) { return a & b; });
    bits(prefix + std::string("Or"), types, [](Wide a, Wide b) { return a | b; });
    bits(prefix + std::string("Xor"), types, [](Wide a, Wide b) { return a ^ b; });
  }
  t.each("Not", kBool, 1,
         [](Type) -> Reference { return [](Args x, size_t) { return ofInteger(x[0].i == 0); }; });
  t.each("BitwiseNot", kIntegers, 1, [](Type type) -> Reference {
    return [type](Args x, size_t) { return ofInteger(wrapped(type, ~x[0].i)); };
  });
  for (const char *direction : {"LEFT", "RIGHT"})
    for (Type type : kIntegers) {
      const bool left = *direction == 'L';
      Case &c = t.add("BitShift", {type, type}, type, [=](Args x, size_t) {
        if (x[1].i < 0 || x[1].i >= bitsOf(type)) // Only signed types have negative distances.
          return ofInteger(0);
        return ofInteger(left ? wrapped(type, x[0].i << int(x[1].i)) : x[0].i >> int(x[1].i));
      });
      c.variant = direction;
      c.attributes = textAttribute("direction", direction);
      if (isSigned(type)) // ONNX shifts only unsigned integers.
        c.refusal =
            std::string("is ") + gantry_type_name(type) + "; it must be u8, u16, u32 or u64";
    }
  for (Type type : kNumbers + kBool)
    t.add("Where", {GANTRY_TYPE_BOOL, type, type}, type, [](Args x, size_t) {
      Expected e;
      e.value = x[0].i ? x[1] : x[2];
      return e;
    });
}

Expected castTo(Type from, Type to, const Number &x) {
  if (to == GANTRY_TYPE_BOOL)
    return ofInteger(isFloat(from) ? x.f != 0 : x.i != 0);
  if (isFloat(to))
    return ofFloat(isFloat(from) ? x.f : Quad(x.i));
  if (!isFloat(from))
    return ofInteger(wrapped(to, x.i));
  // ONNX leaves the cast of a float outside of the integer's range undefined. Gantry saturates, and
  // NaN gives 0.
  if (isnanq(x.f))
    return ofInteger(0);
  if (x.f >= Quad(highest(to)))
    return ofInteger(highest(to));
  return ofInteger(x.f <= Quad(lowest(to)) ? lowest(to) : Wide(x.f));
}

void addCasts(Table &t) {
  for (Type from : kNumbers + kBool)
    for (Type to : kNumbers + kBool) {
      Case &c = t.add("Cast", {from}, to, [=](Args x, size_t) { return castTo(from, to, x[0]); });
      c.variant = std::string("to ") + gantry_type_name(to);
      c.attributes = intAttribute("to", onnxTypeOf(to));
      c.foldedOnly = to == GANTRY_TYPE_BF16;
      if (from != to && (from == GANTRY_TYPE_F32 || to == GANTRY_TYPE_F32)) {
        // CastLike takes the type of its second input.
        Case &like = t.add("CastLike", {from, to}, to,
                           [=](Args x, size_t) { return castTo(from, to, x[0]); });
        like.foldedOnly = to == GANTRY_TYPE_BF16;
      }
    }
  // Cast to another type and back. A fused kernel must not omit the rounding.
  for (Type from : kNumbers)
    for (Type through : kNumbers) {
      if (from == through || from == GANTRY_TYPE_BF16 || through == GANTRY_TYPE_BF16)
        continue;
      Case &c = t.add("Cast", {from}, from, [=](Args x, size_t) {
        Number narrow = castTo(from, through, x[0]).value;
        if (isFloat(through))
          narrow.f = rounded(through, narrow.f);
        return castTo(through, from, narrow);
      });
      c.variant = std::string("to ") + gantry_type_name(through) + " and back";
      c.attributes = intAttribute("to", onnxTypeOf(through));
      c.casts = {from};
    }
}

/// Returns the power of an integer, wrapped to the type. A negative exponent n gives 1 / x^-n,
/// truncated.
Expected integerPower(Type type, Wide x, Wide n) {
  if (n < 0) {
    if (x == 0)
      return undefined();
    return ofInteger(x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0);
  }
  // Products of two 64-bit numbers may exceed the signed type.
  const auto product = [&](Wide a, Wide b) {
    using Unsigned = unsigned __int128;
    return wrapped(type, Wide(static_cast<Unsigned>(a) * static_cast<Unsigned>(b)));
  };
  Wide result = 1;
  for (; n > 0; n >>= 1) {
    if (n & 1)
      result = product(result, x);
    x = product(x, x);
  }
  return ofInteger(result);
}

void addPow(Table &t) {
  for (Type base : kNumbers)
    for (Type exponent : kNumbers) {
      // A power of an integer to a float is computed in the float's type and truncated; it has no
      // exact reference here.
      if (!isFloat(base) && isFloat(exponent))
        continue;
      // ONNX defines powers of i32 and i64. Powers of other integers are tested with exponents of
      // the same type and of i8 only.
      const bool isListed = isFloat(base) || base == GANTRY_TYPE_I32 || base == GANTRY_TYPE_I64;
      if (!isListed && exponent != base && exponent != GANTRY_TYPE_I8)
        continue;
      Case &c = t.add(
          "Pow", {base, exponent}, base,
          [=](Args x, size_t) {
            if (!isFloat(base))
              return integerPower(base, x[0].i, x[1].i);
            return ofFloat(powq(x[0].f, isFloat(exponent) ? x[1].f : Quad(x[1].i)));
          },
          isFloat(base) ? Table::kUlp : 0);
      c.foldedOnly = base == GANTRY_TYPE_F64 || exponent == GANTRY_TYPE_BF16;
    }
}

void addRounding(Table &t) {
  auto unary = [&](const std::string &op, const Types &types, auto onFloats, auto onIntegers) {
    t.each(op, types, 1, [=](Type type) -> Reference {
      if (isFloat(type))
        return [=](Args x, size_t) { return ofFloat(Arithmetic{type}.step(onFloats(x[0].f))); };
      return [=](Args x, size_t) { return ofInteger(wrapped(type, onIntegers(x[0].i))); };
    });
  };
  auto none = [](Wide x) { return x; };
  unary(
      "Abs", kNumbers, [](Quad x) { return fabsq(x); }, [](Wide x) { return x < 0 ? -x : x; });
  unary(
      "Neg", kNumbers, [](Quad x) { return -x; }, [](Wide x) { return -x; });
  unary("Floor", kFloats, floorq, none);
  unary("Ceil", kFloats, ceilq, none);
  unary("Round", kFloats, rintq, none);
  unary("Sqrt", kFloats, sqrtq, none);
  unary(
      "Reciprocal", kFloats, [](Quad x) { return 1 / x; }, none);
  unary(
      "Sign", kNumbers, [](Quad x) { return isnanq(x) ? x
                                            : x > 0   ? 1.0Q
                                            : x < 0   ? -1.0Q
                                                      : 0.0Q; },
      [](Wide x) { return Wide(x > 0) - Wide(x < 0); });
  unary(
      "Relu", kNumbers, [](Quad x) { return maximum(x, 0); },
      [](Wide x) { return std::max<Wide>(x, 0); });
  for (Type type : kFloats) {
    t.add("IsNaN", {type}, GANTRY_TYPE_BOOL,
          [](Args x, size_t) { return ofInteger(isnanq(x[0].f)); });
    for (int which = 0; which < 4; ++which) {
      const bool negative = which & 1, positive = which & 2;
      Case &c = t.add("IsInf", {type}, GANTRY_TYPE_BOOL, [=](Args x, size_t) {
        return ofInteger(isinfq(x[0].f) && (x[0].f < 0 ? negative : positive));
      });
      c.variant = "detect_negative=" + std::to_string(negative) +
                  " detect_positive=" + std::to_string(positive);
      c.attributes = [=](onnx::NodeProto &node) {
        intAttribute("detect_negative", negative)(node);
        intAttribute("detect_positive", positive)(node);
      };
    }
  }
}

void addFunctions(Table &t) {
  t.elementary("Exp", expq);
  t.elementary("Log", logq);
  t.elementary("Erf", erfq);
  t.elementary("Tanh", tanhq);
  t.elementary("Sin", sinq);
  t.elementary("Cos", cosq);
  t.elementary("Tan", tanq);
  t.elementary("Asin", asinq);
  t.elementary("Acos", acosq);
  t.elementary("Atan", atanq);
  t.elementary("Sinh", sinhq);
  t.elementary("Cosh", coshq);
  t.elementary("Asinh", asinhq);
  t.elementary("Acosh", acoshq);
  t.elementary("Atanh", atanhq);
}

/// Activations of the form x * f(x), such as Swish, follow ONNX's formula. They give NaN for minus
/// infinity, because -inf * 0 is NaN.
Quad logistic(Quad x) { return 1 / (1 + expq(-x)); }
Quad softplus(Quad x) { return (x > 0 ? x : x < 0 ? 0 : x) + log1pq(expq(-fabsq(x))); }

void addActivations(Table &t) {
  t.elementary("Sigmoid", logistic);
  t.elementary("Softplus", softplus);
  t.elementary("Mish", [](Quad x) { return x * tanhq(softplus(x)); });
  for (float alpha : {1.0f, 1.702f})
    t.elementary(
        "Swish", [=](Quad x) { return x * logistic(Quad(alpha) * x); },
        alpha == 1 ? "" : "alpha=" + floatText(alpha), floatAttributes({{"alpha", alpha}}));
  t.elementary("Gelu", [](Quad x) { return x / 2 * erfcq(-x * M_SQRT1_2q); });
  t.elementary(
      "Gelu",
      [](Quad x) {
        const Quad inner = sqrtq(M_2_PIq) * (x + 0.044715Q * x * x * x);
        return x * logistic(2 * inner);
      },
      "approximate=tanh", textAttribute("approximate", "tanh"));
  for (float alpha : {1.0f, 0.3f}) {
    const std::string variant = alpha == 1 ? "" : "alpha=" + floatText(alpha);
    t.elementary(
        "Elu", [=](Quad x) { return x >= 0 ? x : Quad(alpha) * expm1q(x); }, variant,
        floatAttributes({{"alpha", alpha}}));
    t.elementary(
        "Celu", [=](Quad x) { return x >= 0 ? x : Quad(alpha) * expm1q(x / Quad(alpha)); }, variant,
        floatAttributes({{"alpha", alpha}}));
  }
  t.elementary("Selu", [](Quad x) {
    const Quad alpha = 1.67326319217681884765625Q, gamma = 1.05070102214813232421875Q;
    return gamma * (x >= 0 ? x : alpha * expm1q(x));
  });
  t.steps("LeakyRelu", [](Arithmetic a, Quad x) { return x >= 0 ? x : a.step(x * Quad(0.01f)); });
  t.steps(
      "LeakyRelu", [](Arithmetic a, Quad x) { return x >= 0 ? x : a.step(x * Quad(-1.5f)); },
      "alpha=-1.5", floatAttributes({{"alpha", -1.5f}}));
  t.steps("HardSigmoid", [](Arithmetic a, Quad x) {
    return maximum(minimum(a.step(a.step(x * Quad(0.2f)) + 0.5Q), 1), 0);
  });
  t.steps("HardSwish", [](Arithmetic a, Quad x) {
    const Quad sixth = a.step(1 / 6.0Q);
    return a.step(x * maximum(minimum(a.step(a.step(x * sixth) + 0.5Q), 1), 0));
  });
  t.steps("Softsign", [](Arithmetic a, Quad x) { return a.step(x / a.step(1 + fabsq(x))); });
  t.steps("ThresholdedRelu", [](Arithmetic, Quad x) { return x > 1 ? x : 0; });
  t.steps(
      "Shrink",
      [](Arithmetic a, Quad x) {
        return x < -1.5Q ? a.step(x + 0.25Q) : x > 1.5Q ? a.step(x - 0.25Q) : 0;
      },
      "lambd=1.5 bias=0.25", floatAttributes({{"lambd", 1.5f}, {"bias", 0.25f}}));
  t.each("PRelu", kNumbers, 2, [](Type type) -> Reference {
    if (isFloat(type))
      return [type](Args x, size_t) {
        return ofFloat(x[0].f >= 0 ? x[0].f : Arithmetic{type}.step(x[0].f * x[1].f));
      };
    return [type](Args x, size_t) {
      return ofInteger(
          x[0].i >= 0 ? x[0].i : wrapped(type, static_cast<unsigned __int128>(x[0].i) * x[1].i));
    };
  });
  auto clip = [&](Type type, Number low, Number high, bool isConstant, const std::string &variant) {
    Case &c = t.add("Clip", {type}, type, [=](Args x, size_t) {
      if (isFloat(type))
        return ofFloat(minimum(maximum(x[0].f, low.f), high.f));
      return ofInteger(std::min(std::max(x[0].i, low.i), high.i));
    });
    c.scalars = {{type, low, isConstant}, {type, high, isConstant}};
    c.variant = variant + (isConstant ? ", constant limits" : ", limits as inputs");
  };
  for (Type type : kNumbers)
    for (bool isConstant : {false, true}) {
      auto number = [&](double value) {
        return isFloat(type) ? ofFloat(value).value : ofInteger(Wide(value)).value;
      };
      clip(type, number(2), number(7), isConstant, "2 to 7");
      if (isSigned(type))
        clip(type, number(-3), number(-0.0), isConstant, "-3 to -0");
      if (!isFloat(type))
        continue;
      clip(type, number(NAN), number(7), isConstant, "NaN to 7");
      clip(type, number(2), number(NAN), isConstant, "2 to NaN");
      clip(type, number(0.0), number(-1), isConstant, "0 to -1");
    }
}
} // namespace

std::vector<Case> cases() {
  Table t;
  addArithmetic(t);
  addComparisons(t);
  addCasts(t);
  addPow(t);
  addRounding(t);
  addFunctions(t);
  addActivations(t);
  addReductions(t);
  addQuantization(t);
  addConstantOperands(t);
  return std::move(t.list);
}

} // namespace gantry::numerics

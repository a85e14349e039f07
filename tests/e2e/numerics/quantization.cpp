// Adds QuantizeLinear and DequantizeLinear to the table of the special-value test (operators.h).
#include "tests/e2e/numerics/table.h"

#include <algorithm>

namespace gantry::numerics {

namespace {

const Types kNarrow = {GANTRY_TYPE_I8, GANTRY_TYPE_U8, GANTRY_TYPE_I16, GANTRY_TYPE_U16};
const Types kScales = {GANTRY_TYPE_F32, GANTRY_TYPE_F16, GANTRY_TYPE_BF16};
const Arithmetic kSingle{GANTRY_TYPE_F32}; // Kernels compute in f32 for scales of all types.

Quad valueOf(Type type, const Number &n) { return kSingle.step(isFloat(type) ? n.f : Quad(n.i)); }

/// Returns round(x / scale) + zero point, saturated. A NaN counts as 0.
Expected quantized(Type from, Type to, const Number &x, const Number &scale, Wide zero) {
  Quad value = rintq(kSingle.step(valueOf(from, x) / scale.f));
  if (isnanq(value))
    value = 0;
  const Quad low = Quad(lowest(to)), high = Quad(highest(to));
  return ofInteger(Wide(std::min(std::max(value + Quad(zero), low), high)));
}

/// Returns (x - zero point) * scale. The difference of 32-bit integers is computed in f32.
Expected dequantized(Type from, const Number &x, const Number &scale, const Number &zero) {
  const Quad difference = kSingle.step(valueOf(from, x) - valueOf(from, zero));
  return ofFloat(kSingle.step(difference * scale.f));
}

Number number(Type type, double value) {
  return isFloat(type) ? ofFloat(value).value : ofInteger(Wide(value)).value;
}

/// Adds a case in which every element has its own scale, and its own zero point if there are three
/// inputs.
void perElement(Table &t, const std::string &op, const Types &types, Type result,
                Reference reference) {
  Case &c = t.add(op, types, result, std::move(reference));
  c.variant =
      std::string("a scale ") + (types.size() == 3 ? "and a zero point " : "") + "for each element";
  c.attributes = [=](onnx::NodeProto &node) {
    intAttribute("axis", 0)(node);
    if (op == "QuantizeLinear" && types.size() == 2)
      intAttribute("output_dtype", onnxTypeOf(result))(node);
  };
}

/// Adds a case with one scale and one zero point for all elements.
void perTensor(Table &t, const std::string &op, Type from, Type result, Case::Scalar scale,
               Case::Scalar zero, Reference reference) {
  Case &c = t.add(op, {from}, result, std::move(reference));
  c.scalars = {scale, zero};
  c.variant = (scale.isConstant ? "constant scale " : "scale ") +
              floatText(static_cast<double>(scale.value.f)) + ", zero point " +
              describe(zero.type, zero.value);
}

void addQuantize(Table &t) {
  for (Type from : kScales + Types{GANTRY_TYPE_I32})
    for (Type to : kNarrow) {
      for (Type scale : kScales) {
        if (scale != from && scale != GANTRY_TYPE_F32)
          continue;
        perElement(t, "QuantizeLinear", {from, scale, to}, to,
                   [=](Args x, size_t) { return quantized(from, to, x[0], x[1], x[2].i); });
        perElement(t, "QuantizeLinear", {from, scale}, to,
                   [=](Args x, size_t) { return quantized(from, to, x[0], x[1], 0); });
      }
      for (bool isConstant : {false, true})
        for (Wide zero : {lowest(to), highest(to)}) {
          const Number scale = number(GANTRY_TYPE_F32, isConstant ? 0.5 : 1);
          Number point;
          point.i = zero;
          perTensor(t, "QuantizeLinear", from, to, {GANTRY_TYPE_F32, scale, isConstant},
                    {to, point, isConstant},
                    [=](Args x, size_t) { return quantized(from, to, x[0], scale, zero); });
        }
    }
}

void addDequantize(Table &t) {
  for (Type from : kNarrow + Types{GANTRY_TYPE_I32})
    for (Type scaleType : kScales) {
      perElement(t, "DequantizeLinear", {from, scaleType, from}, scaleType,
                 [=](Args x, size_t) { return dequantized(from, x[0], x[1], x[2]); });
      perElement(t, "DequantizeLinear", {from, scaleType}, scaleType,
                 [=](Args x, size_t) { return dequantized(from, x[0], x[1], {}); });
      for (bool isConstant : {false, true})
        for (Wide zero : {lowest(from), highest(from)}) {
          const Number scale = number(scaleType, isConstant ? 0.375 : -3);
          Number point;
          point.i = zero;
          perTensor(t, "DequantizeLinear", from, scaleType, {scaleType, scale, isConstant},
                    {from, point, isConstant},
                    [=](Args x, size_t) { return dequantized(from, x[0], scale, point); });
        }
    }
}

} // namespace

void addQuantization(Table &t) {
  addQuantize(t);
  addDequantize(t);
}

} // namespace gantry::numerics

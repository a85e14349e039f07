// Implements number.h: decodes, rounds and compares numbers of all element types.
#include "tests/e2e/numerics/number.h"

#include <cmath>
#include <cstring>
#include <quadmath.h>

namespace gantry::numerics {

namespace {

struct Format {
  int precision;   // Bits of the significand, with the hidden bit.
  int minExponent; // Exponent of the smallest normal number.
  int maxExponent; // Exponent of the largest number.
};

Format formatOf(Type type) {
  switch (type) {
  case GANTRY_TYPE_F64:
    return {53, -1022, 1023};
  case GANTRY_TYPE_F16:
    return {11, -14, 15};
  case GANTRY_TYPE_BF16:
    return {8, -126, 127};
  default:
    return {24, -126, 127};
  }
}

} // namespace

bool isFloat(Type type) { return type <= GANTRY_TYPE_BF16; }

bool isSigned(Type type) {
  return isFloat(type) || type == GANTRY_TYPE_I8 || type == GANTRY_TYPE_I16 ||
         type == GANTRY_TYPE_I32 || type == GANTRY_TYPE_I64;
}

int bitsOf(Type type) { return static_cast<int>(gantry_type_size(type)) * 8; }

int onnxTypeOf(Type type) {
  static constexpr int kOnnx[] = {1, 10, 11, 16, 3, 2, 5, 4, 6, 12, 7, 13, 9};
  return kOnnx[type];
}

Type computeType(Type type) {
  return type == GANTRY_TYPE_F16 || type == GANTRY_TYPE_BF16 ? GANTRY_TYPE_F32 : type;
}

Wide lowest(Type integer) {
  return isSigned(integer) ? -(Wide(1) << (bitsOf(integer) - 1)) : Wide(0);
}

Wide highest(Type integer) {
  if (integer == GANTRY_TYPE_BOOL)
    return 1;
  return (Wide(1) << (bitsOf(integer) - (isSigned(integer) ? 1 : 0))) - 1;
}

Wide wrapped(Type integer, Wide value) {
  const Wide mask = (Wide(1) << bitsOf(integer)) - 1;
  value &= mask;
  return isSigned(integer) && value > highest(integer) ? value - mask - 1 : value;
}

Quad rounded(Type floating, Quad value) {
  if (isnanq(value) || isinfq(value) || value == 0)
    return value;
  const Format format = formatOf(floating);
  const int exponent = std::max(ilogbq(value), format.minExponent);
  const int unit = exponent - (format.precision - 1);
  const Quad result = scalbnq(rintq(scalbnq(value, -unit)), unit);
  if (fabsq(result) > largest(floating))
    return copysignq(HUGE_VALQ, value);
  return result == 0 ? copysignq(0, value) : result;
}

Quad smallestNormal(Type floating) { return scalbnq(1, formatOf(floating).minExponent); }

Quad largest(Type floating) {
  const Format format = formatOf(floating);
  return scalbnq(scalbnq(1, format.precision) - 1, format.maxExponent - format.precision + 1);
}

bool isDenormal(Type floating, Quad value) {
  return value != 0 && fabsq(value) < smallestNormal(floating);
}

namespace {

template <typename T> T load(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <typename T> void store(uint8_t *bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}

Quad decodeSmall(Type type, uint16_t bits) {
  const int fractionBits = type == GANTRY_TYPE_F16 ? 10 : 7;
  const int bias = type == GANTRY_TYPE_F16 ? 15 : 127;
  const int top = 2 * bias + 1;
  const int exponent = (bits & 0x7fff) >> fractionBits, fraction = bits & ((1 << fractionBits) - 1);
  Quad value = 0;
  if (exponent == top)
    value = fraction ? nanq("") : HUGE_VALQ;
  else if (exponent == 0)
    value = scalbnq(fraction, 1 - bias - fractionBits);
  else
    value = scalbnq((1 << fractionBits) + fraction, exponent - bias - fractionBits);
  return bits & 0x8000 ? -value : value;
}

uint16_t encodeSmall(Type type, Quad value) {
  const int fractionBits = type == GANTRY_TYPE_F16 ? 10 : 7;
  const int bias = type == GANTRY_TYPE_F16 ? 15 : 127;
  const uint16_t sign = signbitq(value) ? 0x8000 : 0;
  const auto infinity = static_cast<uint16_t>((2 * bias + 1) << fractionBits);
  if (isnanq(value))
    return static_cast<uint16_t>(infinity | 1u << (fractionBits - 1));
  value = fabsq(rounded(type, value));
  if (isinfq(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  const int exponent = std::max(ilogbq(value), 1 - bias);
  const auto significand = static_cast<int>(scalbnq(value, fractionBits - exponent));
  const int field = significand >> fractionBits ? exponent + bias : 0;
  return static_cast<uint16_t>(sign | field << fractionBits |
                               (significand & ((1 << fractionBits) - 1)));
}

} // namespace

Number decode(Type type, const uint8_t *bytes) {
  Number n;
  switch (type) {
  case GANTRY_TYPE_F32:
    n.f = load<float>(bytes);
    break;
  case GANTRY_TYPE_F64:
    n.f = load<double>(bytes);
    break;
  case GANTRY_TYPE_F16:
  case GANTRY_TYPE_BF16:
    n.f = decodeSmall(type, load<uint16_t>(bytes));
    break;
  default: {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, gantry_type_size(type));
    n.i = type == GANTRY_TYPE_BOOL ? Wide(bits) : wrapped(type, Wide(bits));
  }
  }
  return n;
}

void encode(Type type, const Number &number, uint8_t *bytes) {
  switch (type) {
  case GANTRY_TYPE_F32:
    return store(bytes, static_cast<float>(number.f));
  case GANTRY_TYPE_F64:
    return store(bytes, static_cast<double>(number.f));
  case GANTRY_TYPE_F16:
  case GANTRY_TYPE_BF16:
    return store(bytes, encodeSmall(type, number.f));
  default: {
    const auto bits = static_cast<uint64_t>(number.i);
    std::memcpy(bytes, &bits, gantry_type_size(type));
  }
  }
}

double distanceInUlp(Type floating, Quad result, Quad exact, Quad scale) {
  if (isnanq(result) || isnanq(exact))
    return isnanq(result) && isnanq(exact) ? 0 : INFINITY;
  const Format format = formatOf(floating);
  if (isinfq(exact)) // The exact value is infinite, such as log(0) or 1 / 0.
    return result == exact ? 0 : INFINITY;
  if (isinfq(result)) {
    const Quad beyond = copysignq(scalbnq(1, format.maxExponent + 1), result);
    const bool isBeyond = signbitq(exact) == signbitq(result) && fabsq(exact) >= fabsq(beyond);
    result = isBeyond ? exact : beyond;
  }
  if (result == exact)
    return 0;
  const Quad size = fmaxq(fabsq(exact), scale);
  const int exponent =
      size == 0 ? format.minExponent
                : std::min(std::max(ilogbq(size), format.minExponent), format.maxExponent);
  const Quad unit = scalbnq(1, exponent - (format.precision - 1));
  return static_cast<double>(fabsq(result - exact) / unit);
}

std::string describe(Type type, const Number &number) {
  char text[64];
  if (!isFloat(type)) {
    const bool negative = number.i < 0;
    Wide rest = negative ? -number.i : number.i;
    std::string digits;
    do {
      digits.insert(digits.begin(), char('0' + int(rest % 10)));
      rest /= 10;
    } while (rest != 0);
    return (negative ? "-" : "") + digits;
  }
  std::snprintf(text, sizeof text, "%.17g (%a)", static_cast<double>(number.f),
                static_cast<double>(number.f));
  return text;
}

std::string describe(const std::vector<Type> &types, const std::vector<Number> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + describe(types[std::min(i, types.size() - 1)], numbers[i]);
  return text;
}

} // namespace gantry::numerics

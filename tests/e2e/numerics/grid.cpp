// Generates the values on which operators are tested.
#include "tests/e2e/numerics/grid.h"

#include <quadmath.h>
#include <random>

namespace gantry::numerics {

namespace {

Number floatNumber(Quad value) {
  Number n;
  n.f = value;
  return n;
}

Number integerNumber(Wide value) {
  Number n;
  n.i = value;
  return n;
}

/// Returns the spacing of the numbers just above 1.
Quad epsilon(Type type) {
  return type == GANTRY_TYPE_F64    ? 0x1p-52
         : type == GANTRY_TYPE_F16  ? 0x1p-10
         : type == GANTRY_TYPE_BF16 ? 0x1p-7
                                    : 0x1p-23;
}

/// Adds both signs of each value, rounded to the type.
void addFloats(std::vector<Number> &values, Type type, std::initializer_list<Quad> magnitudes) {
  for (Quad magnitude : magnitudes)
    for (Quad value : {magnitude, -magnitude})
      values.push_back(floatNumber(rounded(type, value)));
}

/// Adds the numbers that the type can represent.
void addIntegers(std::vector<Number> &values, Type type, std::initializer_list<Wide> numbers) {
  for (Wide number : numbers)
    if (number >= lowest(type) && number <= highest(type))
      values.push_back(integerNumber(number));
}

/// Returns the smallest positive denormal number.
Quad tiny(Type type) { return smallestNormal(type) * epsilon(type); }

} // namespace

std::vector<Number> specialValues(Type type) {
  std::vector<Number> values;
  if (type == GANTRY_TYPE_BOOL)
    return {integerNumber(0), integerNumber(1)};
  if (!isFloat(type)) {
    const Wide low = lowest(type), high = highest(type);
    addIntegers(values, type, {0,  1,  -1, 2,  -2, 3,  -3,  5,    7,   -7, 10,
                               31, 32, 33, 63, 64, 65, 100, -100, 127, 255});
    addIntegers(values, type, {low, low + 1, low / 2, high, high - 1, high / 2, high / 2 + 1});
    if (bitsOf(type) >= 32)
      addIntegers(values, type, {(1 << 24) + 1, -(1 << 24) - 1, 46341, 65536, Wide(1) << 31});
    if (bitsOf(type) == 64) { // Just above ties of f32 and bf16, and at ties of f64.
      const Wide one = 1;
      for (Wide value : {(one << 60) + (one << 36) + 1, (one << 62) + (one << 54) + 1,
                         (one << 53) + (one << 29) + 1, (one << 53) + 1, (one << 54) + 6})
        addIntegers(values, type, {value, -value});
    }
    return values;
  }
  const Quad e = epsilon(type), one = 1;
  addFloats(values, type,
            {0,
             tiny(type),
             smallestNormal(type) - tiny(type),
             smallestNormal(type),
             e,
             0.5Q,
             1 - e / 2,
             one,
             1 + e,
             1.5Q,
             2,
             2.5Q,
             3,
             1 / Quad(3),
             8,
             31,
             1 / e,
             2 / e - 1,
             2 / e,
             largest(type),
             HUGE_VALQ});
  if (type == GANTRY_TYPE_F64) // Near ties of f32 and f16, and beyond their ranges.
    addFloats(values, type,
              {65519.99999999999Q, 65520, 2049 + 0x1p-30Q, 2049 - 0x1p-30Q, 1 + 0x1p-11Q + 0x1p-40Q,
               1 + 3 * 0x1p-11Q - 0x1p-40Q, 1 + 0x1p-24Q + 0x1p-50Q, 1 + 3 * 0x1p-24Q - 0x1p-50Q,
               0x1p-25Q + 0x1p-65Q, 0x1p-150Q + 0x1p-190Q, 1e300Q});
  values.push_back(floatNumber(nanq("")));
  return values;
}

std::vector<Number> randomValues(Type type, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Number> values;
  const double range = type == GANTRY_TYPE_F16 ? 8 : 30;
  for (size_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    if (!isFloat(type)) {
      values.push_back(integerNumber(wrapped(type, Wide(random()))));
      if (type == GANTRY_TYPE_BOOL)
        values.back().i &= 1;
      continue;
    }
    const Quad magnitude = exp2q((2 * Quad(unit) - 1) * range);
    values.push_back(floatNumber(rounded(type, random() & 1 ? magnitude : -magnitude)));
  }
  return values;
}

std::vector<Number> denseValues(size_t count) {
  std::mt19937_64 random(9);
  std::vector<Number> values = randomValues(GANTRY_TYPE_F32, count / 3, 10);
  while (values.size() < count) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const double range = values.size() & 1 ? 2 : 100;
    values.push_back(floatNumber(rounded(GANTRY_TYPE_F32, (2 * Quad(unit) - 1) * range)));
  }
  return values;
}

std::vector<Number> denseExponents(const std::vector<Number> &bases) {
  std::mt19937_64 random(11);
  std::vector<Number> values;
  for (const Number &base : bases) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const Quad logarithm = log2q(fabsq(base.f));
    const Quad exponent = (2 * Quad(unit) - 1) * 126 / (logarithm == 0 ? 1 : logarithm);
    values.push_back(
        floatNumber(rounded(GANTRY_TYPE_F32, base.f < 0 ? rintq(exponent) : exponent)));
  }
  return values;
}

std::vector<Number> unaryValues(Type type) {
  std::vector<Number> values = specialValues(type);
  if (type == GANTRY_TYPE_BOOL)
    return values;
  if (!isFloat(type)) {
    for (int bit = 0; bit < bitsOf(type); ++bit)
      for (int step : {-1, 0, 1})
        addIntegers(values, type, {(Wide(1) << bit) + step, -(Wide(1) << bit) + step});
    const auto more = randomValues(type, 64, 1);
    values.insert(values.end(), more.begin(), more.end());
    return values;
  }
  const Quad e = epsilon(type);
  const int lowestExponent = ilogbq(tiny(type)), highestExponent = ilogbq(largest(type));
  // f64 has many exponents, so every seventh one is used.
  const int step = type == GANTRY_TYPE_F64 ? 7 : 1;
  for (int exponent = lowestExponent; exponent <= highestExponent; exponent += step)
    addFloats(values, type,
              {scalbnq(1, exponent), scalbnq(1 + e, exponent), scalbnq(1.7Q, exponent),
               scalbnq(2 - e, exponent)});
  for (int k = 1; k <= 64; ++k) {
    addFloats(values, type, {k * M_PI_2q, k * M_PI_4q, Quad(k), k + 0.5Q, k / 16.0Q, k * 1.375Q});
    addFloats(values, type, {k * M_PI_2q * 1024, k * M_LN2q});
  }
  addFloats(values, type,
            {3e38Q, 1e22Q, 16367173 * 0x1p72Q, 88.7228Q, 88.73Q, 87.33655Q, 103.9721Q, 104, 9.01Q,
             18.71Q, 0.41421357Q, 2.4142137Q, 1e9Q, 65504, 11.09Q});
  const auto more = randomValues(type, 640, 2);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

} // namespace gantry::numerics

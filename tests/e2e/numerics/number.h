// Number: an exact number of any element type, for the special-value test (main.cpp).
//
// A Number stores a float as binary128, whose significand has 113 bits, and an integer in 128 bits,
// so every value of every element type is exact. Sums, products, quotients and square roots of f64
// that are computed in binary128 and then rounded to f64 are correctly rounded, because 113 is at
// least 2 * 53 + 2 (S. A. Figueroa, "When is double rounding innocuous?", 1995).
#pragma once

#include <gantry/gantry.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::numerics {

using Quad = __float128;
using Wide = __int128;
using Type = gantry_type_t;

/// Integers use `i`, floats use `f`. A Number does not store its type; the caller knows it.
struct Number {
  Quad f = 0;
  Wide i = 0;
};

bool isFloat(Type type);
bool isSigned(Type type);
/// Returns the bits of storage of an element; 8 for bool.
int bitsOf(Type type);
/// Returns the type's TensorProto.DataType.
int onnxTypeOf(Type type);
/// Returns the type in which kernels compute with elements of `type`: f32 for f16 and bf16.
Type computeType(Type type);

Wide lowest(Type integer);
Wide highest(Type integer);
/// Reduces an integer modulo 2^bits into the range of the type.
Wide wrapped(Type integer, Wide value);

/// Rounds to nearest, ties to even, with gradual underflow and overflow to infinity.
Quad rounded(Type floating, Quad value);
/// Returns whether the value is a denormal number of the type.
bool isDenormal(Type floating, Quad value);
/// Returns the smallest positive normal number.
Quad smallestNormal(Type floating);
Quad largest(Type floating);

Number decode(Type type, const uint8_t *bytes);
void encode(Type type, const Number &number, uint8_t *bytes);

/// Returns the distance between a result and the exact value, in units in the last place (ulp) of
/// the larger of |exact| and `scale`. The unit is at most the ulp of the largest number.
///
/// The distance is infinite if exactly one of the two is NaN, or if the exact value is infinite and
/// the result differs from it. An infinite result counts as 2^(largest exponent + 1), or as the
/// exact value if that is larger in magnitude. So infinity instead of the largest number is a
/// distance of 1, and the largest number instead of 2^(largest exponent + 1) is also a distance
/// of 1.
double distanceInUlp(Type floating, Quad result, Quad exact, Quad scale = 0);

/// Returns the number as text for messages: integers in decimal, floats in decimal and hexadecimal.
std::string describe(Type type, const Number &number);
std::string describe(const std::vector<Type> &types, const std::vector<Number> &numbers);

} // namespace gantry::numerics

// Numbers of the element types for the special-value test: decoding, rounding and distances.
//
// A Number holds every value of every element type exactly: floats as a 113-bit binary128, integers
// in 128 bits. Sums, products, quotients and square roots of f64 in binary128, rounded once more to
// f64, are the correctly rounded f64 results, because 113 is at least 2 * 53 + 2 (S. A. Figueroa,
// "When is double rounding innocuous?").
#pragma once

#include <gantry/gantry.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::numerics {

using Quad = __float128;
using Wide = __int128;
using Type = gantry_type_t;

/// Integers use `i`, floats use `f`. The type that belongs to a number is known from its place.
struct Number {
  Quad f = 0;
  Wide i = 0;
};

bool isFloat(Type type);
bool isSigned(Type type);
int bitsOf(Type type); // Bits of storage; bool has 8.
int onnxTypeOf(Type type);
/// The type in which kernels compute with elements of `type`: f32 for f16 and bf16.
Type computeType(Type type);

Wide lowest(Type integer);
Wide highest(Type integer);
/// Reduces an integer modulo 2^bits into the range of the type.
Wide wrapped(Type integer, Wide value);

/// Rounds to nearest, ties to even, with gradual underflow and overflow to infinity.
Quad rounded(Type floating, Quad value);
/// Whether the value is a denormal number of the type.
bool isDenormal(Type floating, Quad value);
/// The smallest normal number.
Quad smallestNormal(Type floating);
Quad largest(Type floating);

Number decode(Type type, const uint8_t *bytes);
void encode(Type type, const Number &number, uint8_t *bytes);

/// The distance between a result and the exact value in units in the last place of the exact value.
/// Infinity where exactly one of them is NaN, and for a finite result where the exact value is
/// infinite. An infinite result stands for every value from 2^(largest exponent + 1) on: one that
/// overflows a step early has a distance of 1, and so has the largest number where the exact value
/// is 2^(largest exponent + 1), but not where it is far beyond. The unit is that of `scale` where
/// it is larger than the exact value, and never more than that of the largest number.
double distanceInUlp(Type floating, Quad result, Quad exact, Quad scale = 0);

/// "-0", "1.5", "0x1.8p-149", "nan": for messages.
std::string describe(Type type, const Number &number);
std::string describe(const std::vector<Type> &types, const std::vector<Number> &numbers);

} // namespace gantry::numerics

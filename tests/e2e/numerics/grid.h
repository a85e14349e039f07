// The values that the special-value test feeds to operators.
#pragma once

#include "tests/e2e/numerics/number.h"

namespace gantry::numerics {

/// Values for operators with two and three inputs, which are tested on every pairing: zeros of both
/// signs, denormals, the limits of the type, infinities, NaN, ties, and neighbours of powers of
/// two.
std::vector<Number> specialValues(Type type);

/// Values for operators with one input: the special ones, every power of two with its neighbours,
/// multiples of pi / 2, large arguments, and pseudo-random values with a fixed seed. There are
/// about 3,000 values for a float type and about 200 for an integer type.
std::vector<Number> unaryValues(Type type);

/// `count` pseudo-random values: a float's magnitude is log-uniform between 2^-30 and 2^30 (2^-8
/// and 2^8 for f16), and an integer is uniform over its type.
std::vector<Number> randomValues(Type type, size_t count, uint64_t seed);

/// `count` pseudo-random arguments for a function of f32: a third between -2 and 2, a third between
/// -100 and 100, and a third of any magnitude between 2^-30 and 2^30.
std::vector<Number> denseValues(size_t count);

/// One exponent for each base, chosen so that the powers are spread over the range of f32.
std::vector<Number> denseExponents(const std::vector<Number> &bases);

} // namespace gantry::numerics

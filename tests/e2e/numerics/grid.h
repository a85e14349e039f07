// Generates the values that the special-value test (main.cpp) passes to operators. The values are
// the same in every run.
#pragma once

#include "tests/e2e/numerics/number.h"

namespace gantry::numerics {

/// Returns the values for operators with two and three inputs: zeros of both signs, denormals, the
/// limits of the type, infinities, NaN, ties (numbers halfway between two numbers to which a result
/// may be rounded), and neighbours of powers of two. Operators are tested on all pairs of them.
std::vector<Number> specialValues(Type type);

/// Returns the values for operators with one input: the special values, powers of two with their
/// neighbours, multiples of pi / 4 and of ln 2, large arguments, and pseudo-random values. There
/// are 2,000 to 4,200 values for a float type and 100 to 500 for an integer type.
std::vector<Number> unaryValues(Type type);

/// Returns `count` pseudo-random values. The magnitude of a float is log-uniform between 2^-30 and
/// 2^30 (2^-8 and 2^8 for f16); an integer is uniform over its type.
std::vector<Number> randomValues(Type type, size_t count, uint64_t seed);

/// Returns `count` pseudo-random arguments for a function of f32: a third between -2 and 2, a third
/// between -100 and 100, and a third with magnitudes between 2^-30 and 2^30.
std::vector<Number> denseValues(size_t count);

/// Returns one exponent for each base, chosen so that the powers are spread over the range of f32.
std::vector<Number> denseExponents(const std::vector<Number> &bases);

} // namespace gantry::numerics

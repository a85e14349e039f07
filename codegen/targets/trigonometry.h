// Builds the sine, the cosine and the tangent of any f32, for accurate_math.cpp. The argument, in
// radians, is reduced to [-pi/4, pi/4] without a loss of precision. The result for infinity and NaN
// is NaN.
#pragma once

#include "codegen/targets/float_emitter.h"

namespace gantry::codegen {

Term sine(Term x);
Term cosine(Term x);
Term tangent(Term x);

} // namespace gantry::codegen

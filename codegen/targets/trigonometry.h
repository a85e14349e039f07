// Sine, cosine and tangent of any f32, by an exact reduction of the argument (accurate_math.h).
#pragma once

#include "codegen/targets/float_emitter.h"

namespace gantry::codegen {

Term sine(Term x);
Term cosine(Term x);
Term tangent(Term x);

} // namespace gantry::codegen

// Sine, cosine and tangent of every f32, with the argument reduced exactly (accurate_math.h).
#pragma once

#include "codegen/targets/float_emitter.h"

namespace gantry::codegen {

Term sine(Term x);
Term cosine(Term x);
Term tangent(Term x);

} // namespace gantry::codegen

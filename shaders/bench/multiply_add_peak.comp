// Multiplications and additions in registers. Their measured rate is the upper limit for
// arithmetic.
//
// Each invocation has kChains * 4 independent sums (kChains vec4) and performs kSteps * 16
// multiplications and additions on each. Every operation on a sum depends on the previous one, so
// kChains * 4 must exceed the number of operations that the device keeps in flight for an
// invocation. Each invocation writes one vec4, so that the compiler cannot remove the work.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "access.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kLanes = 8;
layout(constant_id = 1) const uint kSteps = 1024;
layout(constant_id = 2) const uint kChains = 3;

INPUT(0, factors)
OUTPUT(1, result)

void main() {
  const uint index = gl_GlobalInvocationID.x;
  const vec4 factor = LOAD(factors, 0), addend = LOAD(factors, 1);
  vec4 sum[kChains];
  [[unroll]] for (uint c = 0; c < kChains; ++c)
    sum[c] = vec4(c + 1, c + 2, c + 3, c + 4) * float(index + 1);
  for (uint step = 0; step < kSteps; ++step)
    [[unroll]] for (uint u = 0; u < 16; ++u)
      [[unroll]] for (uint c = 0; c < kChains; ++c)
        sum[c] = sum[c] * factor.x + addend.x;
  vec4 total = vec4(0);
  [[unroll]] for (uint c = 0; c < kChains; ++c)
    total += sum[c];
  STORE(result, index, total);
}

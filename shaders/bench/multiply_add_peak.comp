// The ceiling of arithmetic: multiplications and additions in registers alone.
//
// Each invocation carries kChains * 4 independent sums and runs kSteps * 16 multiplications and as many
// additions through each. Every multiplication waits for the addition before it, so kChains * 4 must
// exceed what the device keeps in flight. One vec4 an invocation is written, so that nothing is dropped.
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

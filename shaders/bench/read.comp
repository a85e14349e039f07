// Reads a buffer. Each invocation sums kVectors vectors (vec4), which are kLanes apart. Only the
// sums are written, so the measured rate is the upper limit for reading.
//
// A workgroup of kLanes invocations reads kVectors * kLanes adjacent vectors. Workgroups: x counts
// these groups of vectors. kVectors is a multiple of 8.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "access.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kLanes = 64;
layout(constant_id = 1) const uint kVectors = 256;

INPUT(0, a)
OUTPUT(1, sums)

void main() {
  const uint first = gl_WorkGroupID.x * kVectors * kLanes + gl_LocalInvocationID.x;
  vec4 sum = vec4(0);
  for (uint v0 = 0; v0 < kVectors; v0 += 8)
    [[unroll]] for (uint v = 0; v < 8; ++v)
      sum += LOAD(a, first + (v0 + v) * kLanes);
  STORE(sums, gl_GlobalInvocationID.x, sum);
}

// The matrix-vector product y = A · x in f32. Reading A limits the speed.
//
// k is the index over which the products are summed. A workgroup is one subgroup of kLanes
// invocations. It computes kRowBlocks * kLanes rows; each lane computes one row of each block. In
// each step the lanes load kLanes * 4 elements of x, and shuffles with constant indices broadcast
// them. Layouts (in vec4):
//   a [M / kLanes][K / 4][kLanes]    four k of a row
//   x [K / 4]
//   y [M] floats
// Workgroups: x counts tiles of kRowBlocks * kLanes rows. K is a multiple of kLanes * 4, and M is a
// multiple of the tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "access.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kLanes = 8;
layout(constant_id = 1) const uint kK = 4096;
layout(constant_id = 2) const uint kRowBlocks = 2;

INPUT(0, a)
INPUT(1, x)
OUTPUT_FLOATS(2, y)

void main() {
  const uint lane = gl_LocalInvocationID.x, steps = kK / 4;
  const uint block0 = gl_WorkGroupID.x * kRowBlocks;
  vec4 sum[kRowBlocks];
  [[unroll]] for (uint b = 0; b < kRowBlocks; ++b)
    sum[b] = vec4(0);
  for (uint step = 0; step < steps; step += kLanes) {
    const vec4 elements = LOAD(x, step + lane);
    [[unroll]] for (uint t = 0; t < kLanes; ++t) {
      const vec4 element = subgroupShuffle(elements, t);
      [[unroll]] for (uint b = 0; b < kRowBlocks; ++b)
        sum[b] += LOAD(a, ((block0 + b) * steps + step + t) * kLanes + lane) * element;
    }
  }
  [[unroll]] for (uint b = 0; b < kRowBlocks; ++b)
    STORE(y, (block0 + b) * kLanes + lane, dot(sum[b], vec4(1)));
}

// Softmax over the last dimension, with a row in the registers of one subgroup.
//
// A workgroup is one subgroup of kLanes invocations. It computes a row of kRowVectors * kLanes
// vectors (vec4): it reads the row once, reduces it with subgroup operations, and writes it once.
// Workgroups: x counts rows.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "access.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kLanes = 8;
layout(constant_id = 1) const uint kRowVectors = 32; // Vectors per lane.

INPUT(0, x)
OUTPUT(1, y)

void main() {
  const uint first = gl_WorkGroupID.x * kRowVectors * kLanes + gl_LocalInvocationID.x;
  vec4 row[kRowVectors];
  vec4 largest = vec4(-3.4028235e38);
  [[unroll]] for (uint v = 0; v < kRowVectors; ++v) {
    row[v] = LOAD(x, first + v * kLanes);
    largest = max(largest, row[v]);
  }
  const vec2 half2 = max(largest.xy, largest.zw);
  const float maximum = subgroupMax(max(half2.x, half2.y));
  vec4 total = vec4(0);
  [[unroll]] for (uint v = 0; v < kRowVectors; ++v) {
    row[v] = exp(row[v] - maximum);
    total += row[v];
  }
  const float scale = 1 / subgroupAdd(dot(total, vec4(1)));
  [[unroll]] for (uint v = 0; v < kRowVectors; ++v)
    STORE(y, first + v * kLanes, row[v] * scale);
}

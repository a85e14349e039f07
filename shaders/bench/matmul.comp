// The matmul C = A · B in f32, as an outer product by subgroup shuffles.
//
// k is the index over which the products are summed. A workgroup is one subgroup of kLanes
// invocations. It computes a tile of kRowBlocks * kLanes rows by kColumnVectors * kLanes * 4
// columns of C in registers. In each step of four k, a lane loads four k of one row of A for each
// row block and, for each of the four k, kColumnVectors vectors of four columns of B. Shuffles with
// constant indices broadcast A's rows to all lanes. Nothing is staged in shared memory.
//
// Both operands are packed so that the lanes of a load are adjacent (in vec4):
//   a [M / kLanes][K / 4][kLanes]                      four k of a row
//   b [N / columns][K][kColumnVectors][kLanes]         four columns of a k
//   c [M][N / 4]
// Workgroups: x counts the tiles along the rows, so that neighbouring workgroups read the same
// columns of B from the cache; y counts the tiles along the columns. M and N are multiples of the
// tile, K is a multiple of 4 * kUnroll.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "access.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kLanes = 8;
layout(constant_id = 1) const uint kN = 1024;
layout(constant_id = 2) const uint kK = 1024;
layout(constant_id = 3) const uint kRowBlocks = 2;
layout(constant_id = 4) const uint kColumnVectors = 2;
layout(constant_id = 5) const uint kUnroll = 2; // Steps of four k in the loop's body.

INPUT(0, a)
INPUT(1, b)
OUTPUT(2, c)

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTile = gl_WorkGroupID.x, columnTile = gl_WorkGroupID.y;
  const uint steps = kK / 4, rows = kRowBlocks * kLanes, width = kColumnVectors * kLanes;
  vec4 sum[rows][kColumnVectors];
  [[unroll]] for (uint r = 0; r < rows; ++r)
    [[unroll]] for (uint v = 0; v < kColumnVectors; ++v)
      sum[r][v] = vec4(0);

  const uint aBase = rowTile * kRowBlocks * steps * kLanes + lane;
  const uint bBase = columnTile * kK * width + lane;
  for (uint step = 0; step < steps; step += kUnroll) {
    vec4 left[kRowBlocks][kUnroll];
    [[unroll]] for (uint block = 0; block < kRowBlocks; ++block)
      [[unroll]] for (uint u = 0; u < kUnroll; ++u)
        left[block][u] = LOAD(a, aBase + (block * steps + step + u) * kLanes);
    vec4 right[kUnroll][4][kColumnVectors];
    [[unroll]] for (uint u = 0; u < kUnroll; ++u)
      [[unroll]] for (uint k = 0; k < 4; ++k)
        [[unroll]] for (uint v = 0; v < kColumnVectors; ++v)
          right[u][k][v] = LOAD(b, bBase + ((step + u) * 4 + k) * width + v * kLanes);
    // The loops process one vector of columns for all rows, then the next. B's vectors stay in
    // registers, and so do a row's sums for all k of the body.
    [[unroll]] for (uint v = 0; v < kColumnVectors; ++v)
      [[unroll]] for (uint r = 0; r < rows; ++r)
        [[unroll]] for (uint u = 0; u < kUnroll; ++u)
          [[unroll]] for (uint k = 0; k < 4; ++k)
            sum[r][v] += subgroupShuffle(left[r / kLanes][u][k], r % kLanes) * right[u][k][v];
  }

  [[unroll]] for (uint r = 0; r < rows; ++r)
    [[unroll]] for (uint v = 0; v < kColumnVectors; ++v)
      STORE(c, (rowTile * rows + r) * (kN / 4) + columnTile * width + v * kLanes + lane, sum[r][v]);
}

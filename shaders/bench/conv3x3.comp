// A 3×3 convolution in f32, stride 1, over a padded input: an outer product by subgroup shuffles.
//
// One subgroup of kLanes invocations per workgroup computes kTile adjacent pixels of one row by
// kChannelVectors * kLanes output channels, and holds them in registers: a lane is an output channel.
// In each step (four input channels, one row of the 3×3 window) the lanes load kTile + 2 pixels,
// one each, and the three columns of weights; pixels are broadcast to all lanes by shuffles with
// constant indices, so that the three shifted views of a row cost one load.
//
// Layouts (in vec4, a vec4 being four input channels):
//   x [kIn / 4][kRows + 2][kColumns + 2]                              padded by one on each side
//   w [kIn / 4][3][3][kOut / kLanes][kLanes]
//   y as x, of kOut channels; its border is left as it is, so that zeros there serve the next layer
// Workgroup x counts tiles of output channels, y tiles of a row, z rows.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "access.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kLanes = 8;
layout(constant_id = 1) const uint kRows = 56;
layout(constant_id = 2) const uint kColumns = 56;
layout(constant_id = 3) const uint kIn = 64;
layout(constant_id = 4) const uint kOut = 64;
layout(constant_id = 5) const uint kTile = 56;          // divides kColumns
layout(constant_id = 6) const uint kChannelVectors = 2; // of kLanes output channels

INPUT(0, x)
INPUT(1, w)
OUTPUT_FLOATS(2, y)

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint channel0 = gl_WorkGroupID.x * kChannelVectors * kLanes;
  const uint column0 = gl_WorkGroupID.y * kTile, row = gl_WorkGroupID.z;
  const uint pitch = kColumns + 2, plane = (kRows + 2) * pitch;
  const uint loads = (kTile + 2 + kLanes - 1) / kLanes;
  float sum[kTile][kChannelVectors];
  [[unroll]] for (uint p = 0; p < kTile; ++p)
    [[unroll]] for (uint v = 0; v < kChannelVectors; ++v)
      sum[p][v] = 0;

  for (uint step = 0; step < kIn / 4 * 3; ++step) {
    const uint xBase = step / 3 * plane + (row + step % 3) * pitch + column0;
    const uint wBase = step * 3 * kOut + channel0 + lane;
    vec4 pixels[loads], weights[3][kChannelVectors];
    // The last load reaches past the row where kTile + 2 is not a multiple; its end is not used.
    [[unroll]] for (uint i = 0; i < loads; ++i)
      pixels[i] = LOAD(x, xBase + min(i * kLanes + lane, kTile + 1));
    [[unroll]] for (uint k = 0; k < 3; ++k)
      [[unroll]] for (uint v = 0; v < kChannelVectors; ++v)
        weights[k][v] = LOAD(w, wBase + k * kOut + v * kLanes);
    // Two pixels at a time: each weight that is read from the stack is used twice.
    [[unroll]] for (uint p = 0; p < kTile; p += 2)
      [[unroll]] for (uint v = 0; v < kChannelVectors; ++v)
        [[unroll]] for (uint k = 0; k < 3; ++k)
          [[unroll]] for (uint i = 0; i < 4; ++i) {
            const uint q = p + k, r = q + 1;
            sum[p][v] += subgroupShuffle(pixels[q / kLanes][i], q % kLanes) * weights[k][v][i];
            sum[p + 1][v] += subgroupShuffle(pixels[r / kLanes][i], r % kLanes) * weights[k][v][i];
          }
  }

  [[unroll]] for (uint p = 0; p < kTile; ++p)
    [[unroll]] for (uint v = 0; v < kChannelVectors; ++v) {
      const uint channel = channel0 + v * kLanes + lane;
      const uint pixel = channel / 4 * plane + (row + 1) * pitch + column0 + p + 1;
      STORE(y, pixel * 4 + channel % 4, sum[p][v]);
    }
}

// A 3×3 convolution in f32, stride 1, over a padded input, as an outer product by subgroup
// shuffles.
//
// A workgroup is one subgroup of kLanes invocations. It computes kTile adjacent pixels of one row
// for kChannelVectors * kLanes output channels, and holds the sums in registers. Each lane computes
// kChannelVectors of the channels. In each step (four input channels, one row of the 3×3 window)
// the lanes together load kTile + 2 pixels, and each lane loads the row's three weights for its
// channels. Shuffles with constant indices broadcast the pixels to all lanes, so a pixel is loaded
// once for the three columns of the window.
//
// Layouts (in vec4; a vec4 holds four input channels):
//   x [kIn / 4][kRows + 2][kColumns + 2]                              padded by one on each side
//   w [kIn / 4][3][3][kOut / kLanes][kLanes]
//   y like x, with kOut channels. The kernel does not write its border; a border of zeros serves as
//     the padding of the next layer.
// Workgroups: x counts tiles of output channels, y tiles of a row, z rows.
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
layout(constant_id = 5) const uint kTile = 56;          // Divides kColumns.
layout(constant_id = 6) const uint kChannelVectors = 2; // Vectors of kLanes output channels.

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
    // If kTile + 2 is not a multiple of kLanes, the last lanes of the last load have no pixel. They
    // load the last pixel again, which is not used.
    [[unroll]] for (uint i = 0; i < loads; ++i)
      pixels[i] = LOAD(x, xBase + min(i * kLanes + lane, kTile + 1));
    [[unroll]] for (uint k = 0; k < 3; ++k)
      [[unroll]] for (uint v = 0; v < kChannelVectors; ++v)
        weights[k][v] = LOAD(w, wBase + k * kOut + v * kLanes);
    // Two pixels at a time. On a CPU the sums and weights exceed the registers and lie on the
    // stack; each weight that is read from there is used twice.
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

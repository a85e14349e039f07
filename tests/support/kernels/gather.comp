#version 450
#extension GL_GOOGLE_include_directive : require
#define ELEMENT float
#define BUFFERS 5
#include "binding.glsl"
// Computes result[i] = values[numbers[i]] + values[i] + halves[i] + bytes[i]. Uses every texel format
// (f32, i32, f16, u8); buffer 0 is bound both as texels (values) and as a storage buffer (own).
READ(0, values)
BUFFER(0, readonly, own)
layout(set = 0, binding = BUFFERS + 1) uniform itextureBuffer numbers;
READ(2, halves)
layout(set = 0, binding = BUFFERS + 3) uniform utextureBuffer bytes;
BUFFER(4, writeonly, result)
BLOCK_OF_5
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n.x)
    result.v[i] = LOAD(values, uint(LOAD(numbers, i))) + own.v[i] + LOAD(halves, i) +
                  float(LOAD(bytes, i));
}

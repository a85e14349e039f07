#version 450
#extension GL_GOOGLE_include_directive : require
#define ELEMENT float
#define BUFFERS 4
#include "binding.glsl"
// Uses every format of a texel buffer, and a buffer that is bound both as storage and as texels. Each
// element adds the value that its number selects, its own value, and a value stored as f16.
READ(0, values)
BUFFER(0, readonly, own)
layout(set = 0, binding = BUFFERS + 1) uniform itextureBuffer numbers;
READ(2, halves)
BUFFER(3, writeonly, result)
BLOCK_OF_4
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n.x)
    result.v[i] = LOAD(values, uint(LOAD(numbers, i))) + own.v[i] + LOAD(halves, i);
}

#version 450
#extension GL_GOOGLE_include_directive : require
#define ELEMENT float
#define BUFFERS 3
#include "binding.glsl"
READ(0, a)
READ(1, b)
BUFFER(2, writeonly, c)
BLOCK_OF_3
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n.x)
    c.v[i] = LOAD(a, i) + LOAD(b, i);
}

#version 450
#extension GL_GOOGLE_include_directive : require
#define ELEMENT float
#include "binding.glsl"
BUFFER(0, readonly, a)
BUFFER(1, readonly, b)
BUFFER(2, writeonly, c)
BLOCK_OF_3
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n.x)
    c.v[i] = a.v[i] + b.v[i];
}

#version 450
#extension GL_GOOGLE_include_directive : require
#define ELEMENT float
#define BUFFERS 2
#include "binding.glsl"
READ(0, a)
BUFFER(1, writeonly, b)
BLOCK_OF_2
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n.x)
    b.v[i] = 2.0 * LOAD(a, i);
}

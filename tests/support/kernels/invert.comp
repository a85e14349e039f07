#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_8bit_storage : require
#define ELEMENT uint8_t
#include "binding.glsl"
BUFFER(0, readonly, a)
BUFFER(1, writeonly, b)
BLOCK_OF_2
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n.x)
    b.v[i] = uint8_t(255u - uint(a.v[i]));
}

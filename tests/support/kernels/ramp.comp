#version 450
#extension GL_GOOGLE_include_directive : require
#define ELEMENT uint
#include "binding.glsl"
BUFFER(0, writeonly, a)
// Computes a[i] = first + i * difference. The dims (binding.glsl) are n, first and difference.
#ifdef BIND_ADDRESS
layout(push_constant, scalar) uniform Block { Elements a; uvec2 n; uvec2 first; uvec2 difference; };
#else
layout(push_constant, scalar) uniform Block { uvec2 n; uvec2 first; uvec2 difference; };
#endif
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n.x)
    a.v[i] = first.x + i * difference.x;
}

// STREAM's triad, a + 3 · b. Its measured rate is the upper limit for bandwidth with two loads and
// a store.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "access.glsl"
INPUT(1, a)
INPUT(2, b)
#define VALUE(i) (LOAD(a, i) + 3.0 * LOAD(b, i))
#include "stream.glsl"

// The triad of the STREAM benchmark, a + 3 · b. The measured rate is the upper limit for bandwidth
// with two loads and a store. stream.glsl defines main(), which stores VALUE(i).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "access.glsl"
INPUT(1, a)
INPUT(2, b)
#define VALUE(i) (LOAD(a, i) + 3.0 * LOAD(b, i))
#include "stream.glsl"

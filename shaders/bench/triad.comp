// The ceiling of bandwidth with two loads, a multiplication, an addition and a store (STREAM's triad).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "access.glsl"
INPUT(1, a)
INPUT(2, b)
#define VALUE(i) (LOAD(a, i) + 3.0 * LOAD(b, i))
#include "stream.glsl"

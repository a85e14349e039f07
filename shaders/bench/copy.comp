// Copies a buffer. The measured rate is the upper limit for copying by a kernel. stream.glsl has
// main(), which stores VALUE(i).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "access.glsl"
INPUT(1, a)
#define VALUE(i) LOAD(a, i)
#include "stream.glsl"

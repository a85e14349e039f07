// Adds two tensors element by element. stream.glsl defines main(), which stores VALUE(i).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "access.glsl"
INPUT(1, a)
INPUT(2, b)
#define VALUE(i) (LOAD(a, i) + LOAD(b, i))
#include "stream.glsl"

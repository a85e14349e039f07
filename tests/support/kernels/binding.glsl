// Macros for the kernel ABI of engine/artifact/artifact.fbs, for each binding.
//
// BUFFER(i, access, name) declares buffer i. READ(i, name) declares a read-only buffer, whose elements
// LOAD(name, element) reads. With BIND_TEXEL, READ declares a texel buffer of floats at binding
// BUFFERS + i. The push-constant block holds the addresses (BIND_ADDRESS only), then the dynamic sizes
// (dims).
#extension GL_EXT_scalar_block_layout : require
#ifdef BIND_ADDRESS
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Elements { ELEMENT v[]; };
#define BLOCK_OF_2 layout(push_constant, scalar) uniform Block { Elements a; Elements b; uvec2 n; };
#define BLOCK_OF_3 layout(push_constant, scalar) uniform Block { Elements a; Elements b; Elements c; uvec2 n; };
#define BUFFER(i, access, name)
#else
#define BLOCK_OF_2 layout(push_constant, scalar) uniform Block { uvec2 n; };
#define BLOCK_OF_3 layout(push_constant, scalar) uniform Block { uvec2 n; };
#define BLOCK_OF_5 BLOCK_OF_2
#define BUFFER(i, access, name) layout(set = 0, binding = i, scalar) access buffer B##name { ELEMENT v[]; } name;
#endif
#ifdef BIND_TEXEL
#extension GL_EXT_samplerless_texture_functions : require
#define READ(i, name) layout(set = 0, binding = BUFFERS + i) uniform textureBuffer name;
#define LOAD(name, element) texelFetch(name, int((element) / 4u))[(element) % 4u]
#else
#define READ(i, name) BUFFER(i, readonly, name)
#define LOAD(name, element) name.v[element]
#endif
layout(local_size_x = 64) in;

// The kernel ABI of engine/artifact/artifact.fbs in both bindings. BUFFER(i, name, Type) declares buffer
// i; the push-constant block holds the addresses (BIND_ADDRESS), then DIMS.
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
#define BUFFER(i, access, name) layout(set = 0, binding = i, scalar) access buffer B##name { ELEMENT v[]; } name;
#endif
layout(local_size_x = 64) in;

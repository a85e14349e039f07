// Macros by which the kernels read and write their buffers. The build compiles every kernel twice:
//   READ_TEXEL      inputs are texel buffers (for software devices, whose drivers load a vec4 from
//                   them in straight-line code)
//   otherwise       inputs are storage buffers (for GPUs)
// Results are always storage buffers. `slot` is the number of the binding. An index counts vec4,
// but floats in a buffer of OUTPUT_FLOATS.
#extension GL_EXT_control_flow_attributes : require

#ifdef READ_TEXEL
#define INPUT(slot, name) layout(set = 0, binding = slot) uniform samplerBuffer name;
#define LOAD(name, index) texelFetch(name, int(index))
#else
#define INPUT(slot, name)                                                                          \
  layout(set = 0, binding = slot, std430) readonly buffer Input##name { vec4 v[]; } name;
#define LOAD(name, index) name.v[index]
#endif

#define OUTPUT(slot, name)                                                                         \
  layout(set = 0, binding = slot, std430) writeonly buffer Output##name { vec4 v[]; } name;
#define OUTPUT_FLOATS(slot, name)                                                                  \
  layout(set = 0, binding = slot, std430) writeonly buffer Output##name { float v[]; } name;
#define STORE(name, index, value) name.v[index] = (value)

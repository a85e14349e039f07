// Macros by which the kernels read and write their buffers. The build compiles every kernel twice:
//   READ_TEXEL      inputs are texel buffers (software devices: straight-line loads of a vec4)
//   otherwise       inputs are storage buffers (GPUs)
// Results are always storage buffers. An index counts vec4, except in OUTPUT_FLOATS.
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

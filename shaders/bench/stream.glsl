// The main() of kernels that read and write each element once: result[i] = VALUE(i), where i counts
// vec4. A kernel defines the macro VALUE before it includes this file.
//
// A workgroup of kLanes invocations computes kVectors * kLanes adjacent vectors; neighbouring lanes
// load adjacent vectors. Workgroups are numbered along x, then along y. The number of workgroups
// times kVectors * kLanes is the number of vectors.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kLanes = 64;
layout(constant_id = 1) const uint kVectors = 4; // Vectors per invocation.

OUTPUT(0, result)

void main() {
  const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  const uint first = group * kVectors * kLanes + gl_LocalInvocationID.x;
  vec4 values[kVectors];
  [[unroll]] for (uint v = 0; v < kVectors; ++v)
    values[v] = VALUE(first + v * kLanes);
  [[unroll]] for (uint v = 0; v < kVectors; ++v)
    STORE(result, first + v * kLanes, values[v]);
}

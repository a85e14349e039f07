// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels,cse,convert-kernels-to-spirv))' | FileCheck %s --check-prefix=CONVERT
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels,cse,convert-kernels-to-spirv,bind-buffers,spirv.module(spirv-update-vce)))' | FileCheck %s --check-prefix=BIND

#id = affine_map<(d0) -> (d0)>

// CONVERT: spirv.func @kernel_0(%{{.*}}: !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer> {gantry.binding = #gantry.binding<buffer[0]>
// CONVERT: spirv.FNegate

// With storage buffers, the buffers are descriptors, and the dimension is a push constant.
// BIND: spirv.module Logical GLSL450 {{.*}}gantry.buffers = #gantry.buffers<mode = storage_buffer>
// BIND-DAG: spirv.GlobalVariable @block : !spirv.ptr<!spirv.struct<(i32 [0])>, PushConstant>
// BIND-DAG: spirv.GlobalVariable @buffer0 bind(0, 0)
// BIND-DAG: spirv.GlobalVariable @buffer1 bind(0, 1)
// BIND: spirv.EntryPoint "GLCompute" @kernel_0
// BIND: spirv.ExecutionMode @kernel_0 "LocalSize", 64, 1, 1

// With addresses, the push constants are both buffers' addresses, then the dimension. Accesses state
// their alignment.
// BIND: spirv.module PhysicalStorageBuffer64 GLSL450 {{.*}}gantry.buffers = #gantry.buffers<mode = address>
// BIND: spirv.GlobalVariable @block : !spirv.ptr<!spirv.struct<(i64 [0], i64 [8], i32 [16])>, PushConstant>
// BIND: spirv.ConvertUToPtr
// BIND: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : f32
// BIND: spirv.Store "PhysicalStorageBuffer" %{{.*}}, %{{.*}} ["Aligned", 4] : f32
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {gantry.signature = #gantry.signature<operand_dims = [0], result_dims = [0]>} {
      %e = tensor.empty(%n) : tensor<?xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%p: f32, %o: f32):
        %v = arith.negf %p : f32
        linalg.yield %v : f32
      } -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
  }
}

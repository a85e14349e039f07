// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels,cse,convert-kernels-to-spirv))' | FileCheck %s --check-prefix=CONVERT
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels,cse,convert-kernels-to-spirv,bind-buffers,spirv.module(spirv-update-vce)))' | FileCheck %s --check-prefix=BIND

#id = affine_map<(d0) -> (d0)>

// CONVERT: spirv.func @kernel_0(%{{.*}}: !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer> {gantry.binding = 0
// CONVERT: spirv.FNegate

// Storage buffers: descriptors, and the dimension in a push-constant word of its own.
// BIND: spirv.module Logical GLSL450 {{.*}}gantry.binding_mode = "storage_buffer"
// BIND-DAG: spirv.GlobalVariable @block : !spirv.ptr<!spirv.struct<(i32 [0])>, PushConstant>
// BIND-DAG: spirv.GlobalVariable @buffer0 bind(0, 0)
// BIND-DAG: spirv.GlobalVariable @buffer1 bind(0, 1)
// BIND: spirv.EntryPoint "GLCompute" @kernel_0
// BIND: spirv.ExecutionMode @kernel_0 "LocalSize", 64, 1, 1

// Addresses: both buffers' addresses, then the dimension; accesses state their alignment.
// BIND: spirv.module PhysicalStorageBuffer64 GLSL450 {{.*}}gantry.binding_mode = "address"
// BIND: spirv.GlobalVariable @block : !spirv.ptr<!spirv.struct<(i64 [0], i64 [8], i32 [16])>, PushConstant>
// BIND: spirv.ConvertUToPtr
// BIND: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : f32
// BIND: spirv.Store "PhysicalStorageBuffer" %{{.*}}, %{{.*}} ["Aligned", 4] : f32
module {
  module @kernel_0 attributes {gantry.kernel} {
    func.func @kernel_0(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {gantry.operand_dims = array<i64: 0>, gantry.result_dims = array<i64: 0>} {
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

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe},cse,loop-invariant-code-motion,cse))' | FileCheck %s
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe},cse,loop-invariant-code-motion,cse,convert-kernels-to-spirv,bind-buffers,spirv.module(spirv-update-vce)))' | FileCheck %s --check-prefix=BIND

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(m, n) -> (m, n)>

// A matmul has two variants. In the baseline, each invocation loads all that it needs. In the other variant, a
// subgroup shares a tile: each of its eight lanes loads one vector and passes the elements to the other lanes.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-NOT: GroupNonUniformShuffle
// CHECK-LABEL: func.func @kernel_0_texel(
// CHECK-SAME: lanes = 8
// CHECK: scf.for
// CHECK: spirv.GroupNonUniformShuffle <Subgroup> %[[MINE:[0-9]+]], %
// CHECK-COUNT-7: spirv.GroupNonUniformShuffle <Subgroup> %[[MINE]], %
// CHECK: scf.yield

// BIND: gantry.buffers = #gantry.buffers<mode = storage_buffer>
// BIND: gantry.buffers = #gantry.buffers<mode = address>
// BIND: spirv.module Logical GLSL450 requires {{.*}}GroupNonUniformShuffle{{.*}}gantry.buffers = #gantry.buffers<mode = texel,
// BIND-SAME: texel_views = [<buffer = 0, format = rgba32f, alone = true>, <buffer = 1, format = rgba32f, alone = true>]>
// BIND-DAG: spirv.GlobalVariable @lane built_in("SubgroupLocalInvocationId")
// BIND-DAG: spirv.GlobalVariable @texels0 bind(0, 3)
// BIND-DAG: spirv.GlobalVariable @texels1 bind(0, 4)
// Results are stored as pairs of 64-bit words. The software device stores the components of a
// vector one by one, so two words take half as many stores as four floats.
// BIND-DAG: spirv.GlobalVariable @buffer2_vec4 bind(0, 2) {aliased} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<2xi64>, stride=16> [0])>
// BIND: spirv.FunctionCall @texel_fetch(%texels
// BIND: spirv.Bitcast %{{.*}} : vector<4xf32> to vector<2xi64>
// BIND-NEXT: spirv.Store "StorageBuffer" %{{.*}}, %{{.*}} : vector<2xi64>
// BIND: spirv.ExecutionMode @kernel_0 "LocalSize", 8, 1, 1
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<512x64xf32>, %w: tensor<64x512xf32>) -> tensor<512x512xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<512x512xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
      %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x64xf32>, tensor<64x512xf32>) outs(%i : tensor<512x512xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %m = arith.mulf %p, %q : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
      } -> tensor<512x512xf32>
      return %0 : tensor<512x512xf32>
    }
  }

  // Without a reduction, a tile is one contiguous range of memory, 32 elements for each lane. The
  // dispatch may be divided between any two workgroups, each of which covers 1 KiB of each buffer
  // (gantry.slices: the runtime divides a dispatch if a buffer is larger than the device can bind).
  // CHECK-LABEL: func.func @kernel_1_texel(
  // CHECK-SAME: gantry.slices = #gantry.slices<workgroups = 1, bytes = [1024, 1024, 1024]>
  // CHECK-SAME: merged = 0, lanes = 8
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: tensor<2048x1024xf32>, %y: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> attributes {gantry.signature = #gantry.signature} {
      %e = tensor.empty() : tensor<2048x1024xf32>
      %0 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<2048x1024xf32>, tensor<2048x1024xf32>) outs(%e : tensor<2048x1024xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.addf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<2048x1024xf32>
      return %0 : tensor<2048x1024xf32>
    }
  }

  // The result of a row depends on the row's number, so the dispatch cannot be divided along the rows.
  // CHECK-LABEL: func.func @kernel_2(
  // CHECK-NOT: gantry.slices
  // CHECK: return
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> attributes {gantry.signature = #gantry.signature} {
      %e = tensor.empty() : tensor<2048x1024xf32>
      %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2048x1024xf32>) outs(%e : tensor<2048x1024xf32>) {
      ^bb0(%p: f32, %o: f32):
        %r = linalg.index 0 : index
        %k = arith.index_cast %r : index to i32
        %f = arith.sitofp %k : i32 to f32
        %s = arith.addf %p, %f : f32
        linalg.yield %s : f32
      } -> tensor<2048x1024xf32>
      return %0 : tensor<2048x1024xf32>
    }
  }
}

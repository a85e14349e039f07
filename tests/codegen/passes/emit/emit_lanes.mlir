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

  // Without a reduction, a tile is one contiguous range of memory, 64 elements for each lane. A
  // workgroup has eight subgroups, each with a tile. The dispatch may be divided between any two
  // workgroups, each of which covers 16 KiB of each buffer (gantry.slices: the runtime divides a
  // dispatch if a buffer is larger than the device can bind).
  // CHECK-LABEL: func.func @kernel_1_texel(
  // CHECK-SAME: gantry.binding = #gantry.binding<subgroup>
  // CHECK-SAME: workgroup_size = 64, tiles_per_workgroup = 8, subgroup_size = 8
  // CHECK-SAME: gantry.slices = #gantry.slices<workgroups = 1, bytes = [16384, 16384, 16384]>
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

  // The elements after the last whole vector are stored one by one, in a loop that has one round for the first
  // invocation only.
  // CHECK-LABEL: func.func @kernel_3_texel(
  // CHECK-NOT: gantry.slices
  // CHECK-SAME: merged = 0, lanes = 8
  // CHECK: memref.store {{.*}} : memref<?xvector<4xf32>
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq
  // CHECK: %[[ROUNDS:.*]] = arith.select %[[FIRST]]
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROUNDS]]
  // CHECK-COUNT-3: memref.store {{.*}} : memref<?xf32,
  // CHECK-NOT: memref.store
  // CHECK: return
  module @kernel_3 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_3(%x: tensor<1023x1025xf32>) -> tensor<1023x1025xf32> attributes {gantry.signature = #gantry.signature} {
      %e = tensor.empty() : tensor<1023x1025xf32>
      %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1023x1025xf32>) outs(%e : tensor<1023x1025xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = arith.negf %p : f32
        linalg.yield %s : f32
      } -> tensor<1023x1025xf32>
      return %0 : tensor<1023x1025xf32>
    }
  }

  // Texels also give the elements that do not fill a vector. Here a row begins one element before a vector.
  // CHECK-LABEL: func.func @kernel_4_texel(
  // CHECK-NOT: : memref<?xf32,
  // CHECK: return
  module @kernel_4 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_4(%x: tensor<512x1031xf32>) -> tensor<512x1024xf32> attributes {gantry.signature = #gantry.signature} {
      %s = tensor.extract_slice %x[0, 1] [512, 1024] [1, 1] : tensor<512x1031xf32> to tensor<512x1024xf32>
      %e = tensor.empty() : tensor<512x1024xf32>
      %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<512x1024xf32>) outs(%e : tensor<512x1024xf32>) {
      ^bb0(%p: f32, %o: f32):
        %v = arith.negf %p : f32
        linalg.yield %v : f32
      } -> tensor<512x1024xf32>
      return %0 : tensor<512x1024xf32>
    }
  }

  // The length of a row is known at run time, so the row may begin anywhere in a vector. Its elements are selected from
  // the two vectors that contain four of them.
  // CHECK-LABEL: func.func @kernel_5_texel(
  // CHECK-NOT: : memref<?xf32,
  // CHECK: memref.load {{.*}} : memref<?xvector<4xf32>
  // CHECK: arith.minsi
  // CHECK: memref.load {{.*}} : memref<?xvector<4xf32>
  // CHECK: %[[BIT:.*]] = arith.andi
  // CHECK: %[[MOVES:.*]] = arith.cmpi ne, %[[BIT]]
  // CHECK: arith.select %[[MOVES]]
  // CHECK-NOT: : memref<?xf32,
  // CHECK: return
  module @kernel_5 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_5(%x: tensor<512x?xf32>, %n: index) -> tensor<512x1024xf32> attributes {gantry.signature = #gantry.signature<operand_dims = [0]>} {
      %s = tensor.extract_slice %x[0, 1] [512, 1024] [1, 1] : tensor<512x?xf32> to tensor<512x1024xf32>
      %e = tensor.empty() : tensor<512x1024xf32>
      %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<512x1024xf32>) outs(%e : tensor<512x1024xf32>) {
      ^bb0(%p: f32, %o: f32):
        %v = arith.negf %p : f32
        linalg.yield %v : f32
      } -> tensor<512x1024xf32>
      return %0 : tensor<512x1024xf32>
    }
  }

  // The result has more than 128 MiB, one byte for each bool; a device need not bind that much at once. Tiles that divide
  // the outer dimension are preferred to tiles that run over the ends of rows, because slices of the dispatch need them.
  // CHECK-LABEL: func.func @kernel_6_texel(
  // CHECK-SAME: exact = "points=5x8 steps=-"
  module @kernel_6 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_6(%x: tensor<25x10000019xf32>) -> tensor<25x10000019xi1> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<25x10000019xi1>
      %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<25x10000019xf32>) outs(%e : tensor<25x10000019xi1>) {
      ^bb0(%p: f32, %o: i1):
        %s = arith.cmpf olt, %p, %z : f32
        linalg.yield %s : i1
      } -> tensor<25x10000019xi1>
      return %0 : tensor<25x10000019xi1>
    }
  }
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:nvidia-ada},cse))' | FileCheck %s
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:intel-arc},cse))' | FileCheck %s --check-prefix=SMALL
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:amd-rdna2},cse))' | FileCheck %s --check-prefix=NONE
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:nvidia-ada},cse,convert-kernels-to-spirv,bind-buffers))' | FileCheck %s --check-prefix=BIND

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Both operands are staged in shared memory as f16, two elements in a 32-bit word. In the loop, the subgroups load
// cooperative matrices from there and accumulate their products; they load each matrix of the first operand once
// for a whole row of matrices of the result. After the loop, the sums pass through the same shared memory, one
// matrix at a time, and are stored as vectors. A staged variant without cooperative matrices serves drivers that
// do not support them.
// CHECK-LABEL: func.func @product_staged(
// CHECK-SAME: taken for devices without matrices
// CHECK-SAME: grid = 1
// CHECK-LABEL: func.func @product_matrices(
// CHECK-SAME: subgroup_size = 32, shared_bytes = [[BYTES:[0-9]+]]
// CHECK-SAME: matrix_feature = "cooperativeMatrix 16x16x16 f16 f32"
// CHECK-SAME: grid = 2
// CHECK: %[[POOL:.*]] = memref.alloc() : memref<{{[0-9]+}}xvector<4xi32>, #spirv.storage_class<Workgroup>>
// CHECK: scf.for {{.*}} -> (!spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
// CHECK: memref.load %{{.*}} : memref<?xvector<4xf16>
// CHECK: spirv.Bitcast %{{.*}} : vector<2xf16> to i32
// CHECK: memref.store %{{.*}}, %[[POOL]]
// CHECK: spirv.ControlBarrier <Workgroup>
// CHECK: gantry.load_matrix %[[POOL]][%{{.*}}] stride 9 : {{.*}} -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixA>
// CHECK: gantry.load_matrix %[[POOL]][%{{.*}}] stride {{[0-9]+}} : {{.*}} -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixB>
// CHECK: spirv.KHR.CooperativeMatrixMulAdd
// CHECK: spirv.ControlBarrier <Workgroup>
// CHECK: gantry.store_matrix %{{.*}}, %[[POOL]][%{{.*}}] stride 5
// CHECK: spirv.ControlBarrier <Subgroup>, <Subgroup>
// CHECK: memref.load %[[POOL]]
// CHECK: memref.store %{{.*}} : memref<?xvector<4xf16>

// SMALL: func.func @product_matrices(
// SMALL-SAME: subgroup_size = 8
// SMALL-SAME: matrix_feature = "cooperativeMatrix 8x8x16 f16 f32"
// SMALL: gantry.load_matrix {{.*}} -> !spirv.coopmatrix<8x16xf16, Subgroup, MatrixA>
// SMALL: gantry.load_matrix {{.*}} -> !spirv.coopmatrix<16x8xf16, Subgroup, MatrixB>

// On a device without cooperative matrices, and for f32 operands, the staged tile does not use them.
// NONE: func.func @product_staged(
// NONE-NOT: coopmatrix
// CHECK-LABEL: func.func @wide_staged(
// CHECK-NOT: coopmatrix

// The second operand is transposed, so its columns are contiguous.
// CHECK-LABEL: func.func @transposed_matrices(
// CHECK: gantry.load_matrix {{.*}} columns : {{.*}} MatrixB>

// The extension (SPV_KHR_cooperative_matrix) requires the Vulkan memory model, in which the
// accesses to shared memory are non-private.
// BIND: spirv.module Logical Vulkan
// BIND: spirv.GlobalVariable @subgroup built_in("SubgroupId")
// BIND: spirv.Store "Workgroup" %{{.*}} ["NonPrivatePointer"] : vector<4xi32>
// BIND: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
// BIND: spirv.KHR.CooperativeMatrixLoad %{{.*}}, %{{.*}}, <RowMajor>, <NonPrivatePointer>
// BIND: spirv.KHR.CooperativeMatrixMulAdd
// BIND: spirv.KHR.CooperativeMatrixStore %{{.*}}, %{{.*}}, %{{.*}}, <RowMajor>, <NonPrivatePointer>
// BIND: spirv.module PhysicalStorageBuffer64 Vulkan
module {
  module @product attributes {gantry.kernel = #gantry.kernel} {
    func.func @product(%x: tensor<512x64xf16>, %w: tensor<64x512xf16>) -> tensor<512x512xf16> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f16
      %e = tensor.empty() : tensor<512x512xf16>
      %i = linalg.fill ins(%z : f16) outs(%e : tensor<512x512xf16>) -> tensor<512x512xf16>
      %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x64xf16>, tensor<64x512xf16>) outs(%i : tensor<512x512xf16>) {
      ^bb0(%p: f16, %q: f16, %o: f16):
        %m = arith.mulf %p, %q : f16
        %s = arith.addf %o, %m : f16
        linalg.yield %s : f16
      } -> tensor<512x512xf16>
      return %0 : tensor<512x512xf16>
    }
  }
  module @wide attributes {gantry.kernel = #gantry.kernel} {
    func.func @wide(%x: tensor<512x64xf32>, %w: tensor<64x512xf32>) -> tensor<512x512xf32> attributes {gantry.signature = #gantry.signature} {
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
  module @transposed attributes {gantry.kernel = #gantry.kernel} {
    func.func @transposed(%x: tensor<512x64xf16>, %w: tensor<512x64xf16>) -> tensor<512x512xf16> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f16
      %e = tensor.empty() : tensor<512x512xf16>
      %i = linalg.fill ins(%z : f16) outs(%e : tensor<512x512xf16>) -> tensor<512x512xf16>
      %0 = linalg.generic {indexing_maps = [#a, affine_map<(m, n, k) -> (n, k)>, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x64xf16>, tensor<512x64xf16>) outs(%i : tensor<512x512xf16>) {
      ^bb0(%p: f16, %q: f16, %o: f16):
        %m = arith.mulf %p, %q : f16
        %s = arith.addf %o, %m : f16
        linalg.yield %s : f16
      } -> tensor<512x512xf16>
      return %0 : tensor<512x512xf16>
    }
  }
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:staging},cse))' | FileCheck %s
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:staging shared-memory=2048},cse))' | FileCheck %s --check-prefix=SMALL
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:staging shared-memory=32768},cse))' | FileCheck %s --check-prefix=TWICE
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:staging shared-memory=16},cse))' | FileCheck %s --check-prefix=NONE
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:staging},cse,convert-kernels-to-spirv,bind-buffers))' | FileCheck %s --check-prefix=BIND

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Both operands are staged in the loop over stages, between two barriers. After the loop, the result
// passes through the same shared memory and is stored as vectors.
// CHECK-LABEL: func.func @kernel_0_staged(
// CHECK-SAME: shared_bytes = 16384
// CHECK: %[[POOL:.*]] = memref.alloc() : memref<4096xf32, #spirv.storage_class<Workgroup>>
// CHECK: scf.for
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
// CHECK: memref.store %{{.*}}, %[[POOL]]
// CHECK: spirv.ControlBarrier
// CHECK: memref.load %[[POOL]]
// CHECK: arith.mulf
// CHECK: spirv.ControlBarrier
// CHECK: memref.store %{{.*}}, %[[POOL]]
// CHECK: spirv.ControlBarrier
// CHECK: memref.load %[[POOL]]
// CHECK: memref.store %{{.*}} : memref<?xvector<4xf32>

// With a lower limit, a tile that needs less shared memory is taken. A remark says for each
// candidate tile why it was taken or not.
// SMALL: shared_bytes = {{[0-9]+}}
// SMALL-SAME: gantry.remarks = #gantry.remarks<[{{.*}}more than the limit of 2048{{.*}}taken"{{.*}}costlier

// With room for two stages, the kernel is double-buffered and has one barrier in each stage, before the
// stage is read. The first stage needs no barrier before it is written.
// TWICE-LABEL: func.func @kernel_0_staged(
// TWICE-SAME: shared_bytes = 32768
// TWICE-SAME: kind = staged, {{.*}}staged=32 buffers=2"
// TWICE: memref.alloc() : memref<8192xf32, #spirv.storage_class<Workgroup>>
// TWICE-NOT: spirv.ControlBarrier
// TWICE: %[[SUMS:.*]]:32 = scf.for
// TWICE-NOT: spirv.ControlBarrier
// TWICE: memref.store
// TWICE: spirv.ControlBarrier
// TWICE-NOT: spirv.ControlBarrier
// TWICE: arith.mulf
// TWICE-NOT: spirv.ControlBarrier
// TWICE: scf.yield
// TWICE-NEXT: }
// TWICE-NEXT: scf.yield
// TWICE-NEXT: }
// TWICE-NEXT: spirv.ControlBarrier

// If no staged tile fits, only the baseline is emitted.
// NONE: func.func @kernel_0(
// NONE-NOT: @kernel_0_staged
// NONE-NOT: memref.alloc

// BIND-COUNT-4: spirv.module
// BIND-SAME: shared_bytes = 16384
// BIND: spirv.GlobalVariable @{{.*}} : !spirv.ptr<!spirv.struct<(!spirv.array<4096 x f32>)>, Workgroup>
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
}

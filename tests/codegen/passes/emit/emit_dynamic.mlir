// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe},cse,loop-invariant-code-motion,cse))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The number of rows is known only when the kernel runs. The kernel has one baseline and three alternatives with the
// predicted costs of their tiles, for one row, for few rows and for many rows. In the last ones, lanes load the rows of
// the left operand together: each of the eight lanes loads one row under a guard of its own and passes its elements on. The
// right operand does not depend on the row, so its loads have no guards. The stores are guarded.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-SAME: gantry.tile = #gantry.tile<kind = baseline, extents =
// CHECK-LABEL: func.func @kernel_0_texel1(
// CHECK-SAME: grid = 1, {{.*}}cost = [[#]], {{.*}}exact = "points=1x
// CHECK-LABEL: func.func @kernel_0_texel2(
// CHECK-SAME: grid = 2, {{.*}}cost = [[#]], {{.*}}exact = "points=4x
// CHECK-LABEL: func.func @kernel_0_texel3(
// CHECK-SAME: grid = 3, {{.*}}lanes = 8, cost = [[#]], {{.*}}exact = "points=16x
// CHECK: scf.for
// CHECK-COUNT-2: arith.select
// CHECK-NOT: arith.select
// CHECK-COUNT-64: spirv.GroupNonUniformShuffle
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: scf.if
// CHECK: memref.store
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<?x768xf32>, %w: tensor<768x1024xf32>, %n: index) -> tensor<?x1024xf32> attributes {gantry.signature = #gantry.signature<operand_dims = [0], result_dims = [0]>} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?x1024xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x1024xf32>) -> tensor<?x1024xf32>
      %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<?x768xf32>, tensor<768x1024xf32>) outs(%i : tensor<?x1024xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %1 = arith.mulf %a, %b : f32
        %2 = arith.addf %o, %1 : f32
        linalg.yield %2 : f32
      } -> tensor<?x1024xf32>
      return %0 : tensor<?x1024xf32>
    }
  }
}

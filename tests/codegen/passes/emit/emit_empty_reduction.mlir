// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe},cse))' | FileCheck %s

#x = affine_map<(m, k) -> (m, k)>
#y = affine_map<(m, k) -> (m)>

// The sum over an empty dimension is its initial value.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-NOT: scf.for
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NOT: memref.load
// CHECK: memref.store
// CHECK-LABEL: func.func @kernel_0_texel(
// CHECK-NOT: memref.load
// CHECK: memref.store
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%a: tensor<3x0xf32>) -> tensor<3xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<3xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
      %0 = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<3x0xf32>) outs(%i : tensor<3xf32>) {
      ^bb0(%v: f32, %o: f32):
        %s = arith.addf %o, %v : f32
        linalg.yield %s : f32
      } -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
}

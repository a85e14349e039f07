// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe}))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The larger the rest of the program, the less a faster run of this kernel is worth, compared with
// the time in which the driver compiles it.
// CHECK-LABEL: func.func @kernel_0_texel(
// CHECK-SAME: exact = "points=16x8 steps=4 lanes=8 along=1 run=4"
// CHECK-LABEL: func.func @kernel_1_texel(
// CHECK-SAME: exact = "points=4x4 steps=4"
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x256xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
      %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x256xf32>, tensor<256x256xf32>) outs(%i : tensor<64x256xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %m = arith.mulf %p, %q : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
      } -> tensor<64x256xf32>
      return %0 : tensor<64x256xf32>
    }
  }

  module @kernel_1 attributes {gantry.kernel = #gantry.kernel<program_steps = 10000000000>} {
    func.func @kernel_1(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x256xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
      %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x256xf32>, tensor<256x256xf32>) outs(%i : tensor<64x256xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %m = arith.mulf %p, %q : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
      } -> tensor<64x256xf32>
      return %0 : tensor<64x256xf32>
    }
  }
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:generic},convert-kernels-to-spirv))' | FileCheck %s

// Float arithmetic is decorated NoContraction. Otherwise, a driver could merge two constant factors, so that a
// value halfway between two integers is rounded to the other one, or assume that all numbers are finite.
// CHECK: spirv.FMul {{.*}} {no_contraction}
// CHECK: spirv.FDiv {{.*}} {no_contraction}
// CHECK: spirv.GL.RoundEven
// CHECK: spirv.FMul {{.*}} {no_contraction}
#id = affine_map<(i) -> (i)>
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<1xf32>) -> tensor<1xf32> attributes {gantry.signature = #gantry.signature} {
      %factor = arith.constant 0.0291920900 : f32
      %scale = arith.constant 18.3838158 : f32
      %e = tensor.empty() : tensor<1xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<1xf32>) outs(%e : tensor<1xf32>) {
      ^bb0(%a: f32, %o: f32):
        %0 = arith.mulf %a, %factor : f32
        %1 = arith.divf %0, %scale : f32
        %2 = math.roundeven %1 : f32
        %3 = arith.mulf %2, %scale : f32
        linalg.yield %3 : f32
      } -> tensor<1xf32>
      return %r : tensor<1xf32>
    }
  }
}

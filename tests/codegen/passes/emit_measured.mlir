// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe}))' | FileCheck %s

// A told tile may merge dimensions without lanes: 64 elements in tiles of four are 16 invocations,
// which are a workgroup.
// CHECK: func.func @kernel_0({{.*}}gantry.exact_tile = "baseline points=4 steps=- merged=0"
// CHECK-SAME: gantry.ladder = ["measured: here"]
// CHECK-SAME: gantry.workgroup_size = 16
#id = affine_map<(a, b, c) -> (a, b, c)>
module {
  module @kernel_0 attributes {gantry.kernel, gantry.measured = {
      origin = "here", tile = "baseline points=4 steps=- merged=0"}} {
    func.func @kernel_0(%x: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
      %e = tensor.empty() : tensor<4x4x4xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%x : tensor<4x4x4xf32>) outs(%e : tensor<4x4x4xf32>) {
      ^bb0(%a: f32, %o: f32):
        %m = arith.addf %a, %a : f32
        linalg.yield %m : f32
      } -> tensor<4x4x4xf32>
      return %r : tensor<4x4x4xf32>
    }
  }
}

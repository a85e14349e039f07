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

  // Nothing of an empty result can be merged.
  // CHECK: func.func @kernel_1({{.*}}here: baseline points=1 steps=- merged=0: not taken: dimensions from 0 on
  module @kernel_1 attributes {gantry.kernel, gantry.measured = {
      origin = "here", tile = "baseline points=1 steps=- merged=0"}} {
    func.func @kernel_1(%x: tensor<0x4x4xf32>) -> tensor<0x4x4xf32> {
      %e = tensor.empty() : tensor<0x4x4xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%x : tensor<0x4x4xf32>) outs(%e : tensor<0x4x4xf32>) {
      ^bb0(%a: f32, %o: f32):
        %m = arith.addf %a, %a : f32
        linalg.yield %m : f32
      } -> tensor<0x4x4xf32>
      return %r : tensor<0x4x4xf32>
    }
  }

  // A tile may go beyond what is put together.
  // CHECK: func.func @kernel_2({{.*}}gantry.exact_tile = "baseline points=1x1x4 steps=-"
  module @kernel_2 attributes {gantry.kernel, gantry.measured = {
      origin = "here", tile = "baseline points=1x1x4 steps=-"}} {
    func.func @kernel_2(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x2x1xf32> {
      %r = tensor.concat dim(1) %x, %y : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
      return %r : tensor<1x2x1xf32>
    }
  }

  // CHECK: func.func @kernel_3({{.*}}gantry.exact_tile = "baseline points=1x4x1 steps=-"
  module @kernel_3 attributes {gantry.kernel, gantry.measured = {
      origin = "here", tile = "baseline points=1x4x1 steps=-"}} {
    func.func @kernel_3(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x2x1xf32> {
      %r = tensor.concat dim(1) %x, %y : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
      return %r : tensor<1x2x1xf32>
    }
  }
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe}))' | FileCheck %s

// A tile from a tuning table (`measured`, docs/tuning.md) may treat dimensions as one (`merged`),
// even if no lanes share the tile. 64 elements in tiles of four take 16 invocations, which are one
// workgroup.
// CHECK: func.func @kernel_0({{.*}}workgroup_size = 16
// CHECK-SAME: gantry.remarks = #gantry.remarks<["measured: here"]>
// CHECK-SAME: kind = baseline, {{.*}}exact = "points=4 steps=- merged=0"
#id = affine_map<(a, b, c) -> (a, b, c)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = baseline, tile = "points=4 steps=- merged=0", origin = "here">>} {
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

  // The dimensions of an empty result cannot be merged.
  // CHECK: func.func @kernel_1({{.*}}here: baseline points=1 steps=- merged=0: not taken: dimensions from 0 on
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = baseline, tile = "points=1 steps=- merged=0", origin = "here">>} {
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

  // A tile may be larger than the operands of a concatenation.
  // CHECK: func.func @kernel_2({{.*}}kind = baseline, {{.*}}exact = "points=1x1x4 steps=-"
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = baseline, tile = "points=1x1x4 steps=-", origin = "here">>} {
    func.func @kernel_2(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x2x1xf32> {
      %r = tensor.concat dim(1) %x, %y : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
      return %r : tensor<1x2x1xf32>
    }
  }

  // CHECK: func.func @kernel_3({{.*}}kind = baseline, {{.*}}exact = "points=1x4x1 steps=-"
  module @kernel_3 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = baseline, tile = "points=1x4x1 steps=-", origin = "here">>} {
    func.func @kernel_3(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x2x1xf32> {
      %r = tensor.concat dim(1) %x, %y : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
      return %r : tensor<1x2x1xf32>
    }
  }

  // The last run of a lane and the last steps of a sum may be fewer.
  // CHECK: func.func @kernel_4_texel({{.*}}gantry.remarks = #gantry.remarks<["measured: here"]>{{.*}}exact = "points=8x4 steps=4 lanes=8 along=1 run=4"
  module @kernel_4 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = texel, tile = "points=8x4 steps=4 lanes=8 along=1 run=4", origin = "here">>} {
    func.func @kernel_4(%x: tensor<64x63xf32>, %w: tensor<63x511xf32>) -> tensor<64x511xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x511xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x511xf32>) -> tensor<64x511xf32>
      %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<64x63xf32>, tensor<63x511xf32>) outs(%f : tensor<64x511xf32>) {
      ^bb0(%p: f32, %q: f32, %acc: f32):
        %1 = arith.mulf %p, %q : f32
        %2 = arith.addf %acc, %1 : f32
        linalg.yield %2 : f32
      } -> tensor<64x511xf32>
      return %r : tensor<64x511xf32>
    }
  }
}

// RUN: gantry-import %s | FileCheck %s
// MLIR's conversions lower TOSA. Reductions start from a fill, and scalar constants are in the bodies.

// CHECK: #[[$BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: gantry.port = #gantry.port<name = "arg0", dims = [<"arg0_dim0">, <"">, <"">, <"">]>
// CHECK-SAME: gantry.port = #gantry.port<name = "result0">
func.func @forward(%x: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x1xf32>, %bias: tensor<4xf32>)
    -> (tensor<?x8x16x4xf32>, tensor<?x4x4x4xf32>) {
  // CHECK: %[[BATCH:.*]] = tensor.dim %arg0
  // CHECK: tensor.pad %arg0 low[0, 1, 1, 0] high[0, 1, 1, 0]
  // CHECK: %[[ZERO:.*]] = linalg.fill
  // CHECK: linalg.generic
  // CHECK-SAME: "reduction", "reduction"
  // CHECK-SAME: outs(%[[ZERO]] : tensor<?x8x8x4x1xf32>)
  %conv = tosa.depthwise_conv2d %x, %w, %bias {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>,
      stride = array<i64: 1, 1>} : (tensor<?x8x8x4xf32>, tensor<3x3x4x1xf32>, tensor<4xf32>) -> tensor<?x8x8x4xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[$BIAS]]
  // CHECK: tensor.concat dim(2)
  // CHECK-NOT: tensor.insert_slice
  %both = tosa.concat %x, %conv {axis = 2 : i32} : (tensor<?x8x8x4xf32>, tensor<?x8x8x4xf32>) -> tensor<?x8x16x4xf32>
  %part = tosa.slice %x {start = array<i64: 0, 2, 2, 0>, size = array<i64: -1, 4, 4, 4>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  // CHECK: tensor.extract_slice %arg0[0, 2, 2, 0] [%[[BATCH]], 4, 4, 4]
  return %both, %part : tensor<?x8x16x4xf32>, tensor<?x4x4x4xf32>
}

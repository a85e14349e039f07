// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(collapse-dims)' | FileCheck %s

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#w = affine_map<(b, m, n, k) -> (k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
#n = affine_map<(b, m, n) -> (n)>

// The rows of all matrices of a batch become the rows of one matmul by the same matrix.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[N:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims() {collapsed = 2 : i64
// CHECK: func.func @kernel_0(%{{.*}}: tensor<196x64xf32>, %{{.*}}: tensor<64x96xf32>, %{{.*}}: tensor<96xf32>) -> tensor<196x96xf32> attributes {gantry.signature = #gantry.signature}
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[W]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[N]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
module {
  func.func @main(%x: tensor<4x49x64xf32>, %w: tensor<64x96xf32>, %bias: tensor<96xf32>) -> tensor<4x49x96xf32> {
    %0 = gantry.dispatch @kernel_0(%x, %w, %bias) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<4x49x64xf32>, tensor<64x96xf32>, tensor<96xf32>) -> tensor<4x49x96xf32>
    return %0 : tensor<4x49x96xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<4x49x64xf32>, %w: tensor<64x96xf32>, %bias: tensor<96xf32>) -> tensor<4x49x96xf32> attributes {gantry.signature = #gantry.signature<layouts = [<[]>, <[]>, <[]>, <[]>]>} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x49x96xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x49x96xf32>) -> tensor<4x49x96xf32>
      %0 = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x49x64xf32>, tensor<64x96xf32>) outs(%f : tensor<4x49x96xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %m = arith.mulf %p, %q : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
      } -> tensor<4x49x96xf32>
      %1 = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0, %bias : tensor<4x49x96xf32>, tensor<96xf32>) outs(%e : tensor<4x49x96xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.addf %p, %q : f32
        linalg.yield %s : f32
      } -> tensor<4x49x96xf32>
      return %1 : tensor<4x49x96xf32>
    }
  }
}

// -----

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#w = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

// Each matrix of this batch is multiplied by its own.
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims() {operand_dims
// CHECK: func.func @kernel_0(%{{.*}}: tensor<4x49x64xf32>
module {
  func.func @main(%x: tensor<4x49x64xf32>, %w: tensor<4x64x96xf32>) -> tensor<4x49x96xf32> {
    %0 = gantry.dispatch @kernel_0(%x, %w) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<4x49x64xf32>, tensor<4x64x96xf32>) -> tensor<4x49x96xf32>
    return %0 : tensor<4x49x96xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<4x49x64xf32>, %w: tensor<4x64x96xf32>) -> tensor<4x49x96xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x49x96xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x49x96xf32>) -> tensor<4x49x96xf32>
      %0 = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x49x64xf32>, tensor<4x64x96xf32>) outs(%f : tensor<4x49x96xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %m = arith.mulf %p, %q : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
      } -> tensor<4x49x96xf32>
      return %0 : tensor<4x49x96xf32>
    }
  }
}

// -----

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>

// Elementwise operators on equal layouts visit the elements in the order of memory: kernel_0, whose
// channels are whole blocks of four. The last block of kernel_1 has two channels, the layouts of
// kernel_2 differ, and kernel_3 is a part of a larger tensor.
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims() {collapsed = 4 : i64
// CHECK-COUNT-3: gantry.dispatch @kernel_{{.}}(%{{.*}}) dims() {operand_dims
// CHECK: func.func @kernel_0(%{{.*}}: tensor<1568xf32>) -> tensor<1568xf32> attributes {gantry.signature = #gantry.signature}
// CHECK: func.func @kernel_1(%{{.*}}: tensor<1x6x14x14xf32>)
// CHECK: func.func @kernel_2(%{{.*}}: tensor<1x8x14x14xf32>)
// CHECK: func.func @kernel_3(%{{.*}}: tensor<1x8x14x14xf32>)
module {
  func.func @main(%x: tensor<1x8x14x14xf32>, %y: tensor<1x6x14x14xf32>) -> (tensor<1x8x14x14xf32>, tensor<1x6x14x14xf32>, tensor<1x8x14x14xf32>, tensor<1x8x14x14xf32>) {
    %0 = gantry.dispatch @kernel_0(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32>
    %1 = gantry.dispatch @kernel_1(%y) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x6x14x14xf32>) -> tensor<1x6x14x14xf32>
    %2 = gantry.dispatch @kernel_2(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32>
    %3 = gantry.dispatch @kernel_3(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32>
    return %0, %1, %2, %3 : tensor<1x8x14x14xf32>, tensor<1x6x14x14xf32>, tensor<1x8x14x14xf32>, tensor<1x8x14x14xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32> attributes {gantry.signature = #gantry.signature<layouts = [<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, <[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>]>} {
      %e = tensor.empty() : tensor<1x8x14x14xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x14x14xf32>) outs(%e : tensor<1x8x14x14xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = math.exp %p : f32
        linalg.yield %s : f32
      } -> tensor<1x8x14x14xf32>
      return %0 : tensor<1x8x14x14xf32>
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: tensor<1x6x14x14xf32>) -> tensor<1x6x14x14xf32> attributes {gantry.signature = #gantry.signature<layouts = [<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, <[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>]>} {
      %e = tensor.empty() : tensor<1x6x14x14xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x14x14xf32>) outs(%e : tensor<1x6x14x14xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = math.exp %p : f32
        linalg.yield %s : f32
      } -> tensor<1x6x14x14xf32>
      return %0 : tensor<1x6x14x14xf32>
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32> attributes {gantry.signature = #gantry.signature<layouts = [<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, <[]>]>} {
      %e = tensor.empty() : tensor<1x8x14x14xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x14x14xf32>) outs(%e : tensor<1x8x14x14xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = math.exp %p : f32
        linalg.yield %s : f32
      } -> tensor<1x8x14x14xf32>
      return %0 : tensor<1x8x14x14xf32>
    }
  }
  module @kernel_3 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_3(%x: tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32> attributes {gantry.signature = #gantry.signature<layouts = [<[], within = [-1, 16, 14, 14]>, <[], within = [-1, 16, 14, 14]>]>} {
      %e = tensor.empty() : tensor<1x8x14x14xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x14x14xf32>) outs(%e : tensor<1x8x14x14xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = math.exp %p : f32
        linalg.yield %s : f32
      } -> tensor<1x8x14x14xf32>
      return %0 : tensor<1x8x14x14xf32>
    }
  }
}

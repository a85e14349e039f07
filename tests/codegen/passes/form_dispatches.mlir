// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,form-dispatches))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A reduction is fused with the elementwise chain after it: bias and activation.
// CHECK-LABEL: func @epilogue
// CHECK: gantry.dispatch(%arg0, %arg1, %arg2) dims() flops
// CHECK: linalg.fill
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: gantry.yield
// CHECK-NOT: gantry.dispatch
func.func @epilogue(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %bias : tensor<8x4xf32>, tensor<4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.maximumf %0, %z : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// An elementwise value with two consumers is computed once and stored.
// CHECK-LABEL: func @two_consumers
// CHECK: %[[E:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: gantry.dispatch(%[[E]])
// CHECK: arith.negf
// CHECK: gantry.dispatch(%[[E]])
// CHECK: arith.mulf
func.func @two_consumers(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.mulf %p, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %1, %2 : tensor<64xf32>, tensor<64xf32>
}

// -----

#in = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// An expensive producer whose elements a matmul reads many times is not recomputed there.
// CHECK-LABEL: func @no_recomputation
// CHECK: %[[E:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: gantry.dispatch(%[[E]], %arg1)
func.func @no_recomputation(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%ex : tensor<8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %acc, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Dynamic extents become dims of the dispatch, once each.
// CHECK-LABEL: func @dynamic
// CHECK: %[[D:.*]] = tensor.dim %arg0
// CHECK: gantry.dispatch(%arg0) dims(%[[D]]) {{.*}} {operand_dims = array<i64: 0>, result_dims = array<i64: 0>}
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#gate = affine_map<(d0, d1) -> (d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A factor for each step of the reduction is applied where the matmul reads its operand.
// CHECK-LABEL: func @gate
// CHECK-SAME: (%[[X:.*]]: tensor<8x16xf32>, %[[S:.*]]: tensor<16xf32>, %[[W:.*]]: tensor<16x4xf32>)
// CHECK: gantry.dispatch(%[[X]], %[[S]], %[[W]])
// CHECK-NOT: gantry.dispatch
func.func @gate(%x: tensor<8x16xf32>, %s: tensor<16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x16xf32>
  %g = linalg.generic {indexing_maps = [#id, #gate, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x16xf32>, tensor<16xf32>) outs(%t : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// A cheap elementwise operator with constant factors is evaluated where the matmul reads its
// operand, because there is no reduction before the operator whose kernel could evaluate the
// operator at its end.
// CHECK-LABEL: func @prologue
// CHECK: gantry.dispatch(%arg0, %{{.*}}, %arg1)
// CHECK-NOT: gantry.dispatch
// CHECK: return
func.func @prologue(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %s = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %z = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x16xf32>
  %g = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%t : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// With many columns, evaluating the operator in each tile costs more than storing its result.
// CHECK-LABEL: func @prologue_of_many_columns
// CHECK: gantry.dispatch(%arg0
// CHECK: arith.mulf
// CHECK: gantry.dispatch(
// CHECK: return
func.func @prologue_of_many_columns(%x: tensor<8x16xf32>, %w: tensor<16x4096xf32>) -> tensor<8x4096xf32> {
  %s = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %z = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x16xf32>
  %g = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%t : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<8x16xf32>, tensor<16x4096xf32>) outs(%f : tensor<8x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4096xf32>
  return %m : tensor<8x4096xf32>
}

// A factor for each row that is no constant may be the result of a normalization's reduction. A
// normalization is one kernel of its own, so the scaling is not a part of the matmul's kernel.
// CHECK-LABEL: func @row_factor
// CHECK: gantry.dispatch
// CHECK: gantry.dispatch
func.func @row_factor(%x: tensor<8x16xf32>, %s: tensor<8xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x16xf32>
  %g = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%t : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// Between two matmuls, the operator is evaluated at the end of the first and not at the start of the second.
// CHECK-LABEL: func @epilogue_before_prologue
// CHECK: gantry.dispatch(%arg0, %arg1)
// CHECK: arith.addf
// CHECK: arith.negf
// CHECK: gantry.dispatch(
// CHECK-NOT: arith.negf
// CHECK: return
func.func @epilogue_before_prologue(%x: tensor<8x16xf32>, %v: tensor<16x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x16xf32>
  %u = linalg.fill ins(%z : f32) outs(%t : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<8x16xf32>, tensor<16x16xf32>) outs(%u : tensor<8x16xf32>) {
  ^bb0(%q: f32, %r: f32, %acc: f32):
    %0 = arith.mulf %q, %r : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x16xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x16xf32>) outs(%t : tensor<8x16xf32>) {
  ^bb0(%q: f32, %o: f32):
    %0 = arith.negf %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%q: f32, %r: f32, %acc: f32):
    %0 = arith.mulf %q, %r : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// A convolution would evaluate the operator once for each position of its window, so the operator has its own
// dispatch.
// CHECK-LABEL: func @no_prologue_of_windows
// CHECK: gantry.dispatch(%arg0)
// CHECK: arith.negf
// CHECK: gantry.dispatch(
// CHECK: return
#window = affine_map<(d0, d1, d2) -> (d0, d1 + d2)>
#taps = affine_map<(d0, d1, d2) -> (d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @no_prologue_of_windows(%x: tensor<8x18xf32>, %w: tensor<3xf32>) -> tensor<8x16xf32> {
  %z = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x18xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x18xf32>) outs(%t : tensor<8x18xf32>) {
  ^bb0(%q: f32, %o: f32):
    %0 = arith.negf %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x18xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.generic {indexing_maps = [#window, #taps, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<8x18xf32>, tensor<3xf32>) outs(%f : tensor<8x16xf32>) {
  ^bb0(%q: f32, %r: f32, %acc: f32):
    %0 = arith.mulf %q, %r : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x16xf32>
  return %m : tensor<8x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A slice that removes padding is a part of the matmul's dispatch, which then computes only the
// slice. A slice from the middle is a dispatch of its own.
// CHECK-LABEL: func @corner
// CHECK: %[[Y:.*]] = gantry.dispatch
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: tensor.extract_slice {{.*}}[0, 0] [7, 3] [1, 1]
// CHECK: gantry.yield
// CHECK-NOT: gantry.dispatch
// CHECK: return %[[Y]]
func.func @corner(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<7x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  %r = tensor.extract_slice %m[0, 0] [7, 3] [1, 1] : tensor<8x4xf32> to tensor<7x3xf32>
  return %r : tensor<7x3xf32>
}

// CHECK-LABEL: func @middle
// CHECK-COUNT-2: = gantry.dispatch
func.func @middle(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<7x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  %r = tensor.extract_slice %m[1, 0] [7, 3] [1, 1] : tensor<8x4xf32> to tensor<7x3xf32>
  return %r : tensor<7x3xf32>
}

// The program also returns the whole product, so the slice is a copy.
// CHECK-LABEL: func @corner_and_whole
// CHECK-COUNT-2: = gantry.dispatch
func.func @corner_and_whole(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<7x3xf32>, tensor<8x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  %r = tensor.extract_slice %m[0, 0] [7, 3] [1, 1] : tensor<8x4xf32> to tensor<7x3xf32>
  return %r, %m : tensor<7x3xf32>, tensor<8x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>

// The kernel of a softmax has one loop over a row, so a sum of rows of another length is a dispatch of its own.
// CHECK-LABEL: func @rows_of_equal_length
// CHECK: gantry.dispatch(
// CHECK-NOT: gantry.dispatch
// CHECK-LABEL: func @rows_of_other_lengths
// CHECK: gantry.dispatch(%arg1
// CHECK: gantry.dispatch(%arg0
// CHECK: return
func.func @rows_of_equal_length(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x1xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x1xf32>) -> tensor<3x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<3x4xf32>) outs(%f : tensor<3x1xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %0 = arith.addf %acc, %p : f32
    linalg.yield %0 : f32
  } -> tensor<3x1xf32>
  %t = tensor.empty() : tensor<3x4xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<3x4xf32>, tensor<3x1xf32>) outs(%t : tensor<3x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<3x4xf32>
  return %d : tensor<3x4xf32>
}
func.func @rows_of_other_lengths(%x: tensor<3x4xf32>, %y: tensor<3x5xf32>) -> tensor<3x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x1xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x1xf32>) -> tensor<3x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<3x5xf32>) outs(%f : tensor<3x1xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %0 = arith.addf %acc, %p : f32
    linalg.yield %0 : f32
  } -> tensor<3x1xf32>
  %t = tensor.empty() : tensor<3x4xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<3x4xf32>, tensor<3x1xf32>) outs(%t : tensor<3x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<3x4xf32>
  return %d : tensor<3x4xf32>
}

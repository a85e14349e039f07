// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,form-dispatches,assign-storage))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The division of a softmax is the last use of the exponential and reads it element by element, so the
// result takes the storage of the exponential.
// CHECK-LABEL: func @dies
// CHECK: %[[E:.*]] = gantry.dispatch(%arg0)
// CHECK-NOT: in_place
// CHECK: %[[S:.*]] = gantry.dispatch(%[[E]])
// CHECK-NOT: in_place
// CHECK: %[[R:.*]] = gantry.dispatch(%[[E]], %[[S]]){{.*}}in_place = 0
func.func @dies(%x: tensor<8x8xf32>) -> tensor<1x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %er = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.divf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [1, 8, 8] : tensor<8x8xf32> into tensor<1x8x8xf32>
  return %3 : tensor<1x8x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// No storage is reused: a transposed read could see elements that other invocations have overwritten, and
// an input belongs to the caller.
// CHECK-LABEL: func @not_in_place
// CHECK-NOT: in_place
func.func @not_in_place(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#t, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

#id = affine_map<(r, c) -> (r, c)>
#t = affine_map<(r, c) -> (c, r)>
#row = affine_map<(r, c) -> (r, 0)>
#a = affine_map<(r, c, k) -> (r, k)>
#b = affine_map<(r, c, k) -> (k, c)>
#c = affine_map<(r, c, k) -> (r, c)>

// In a kernel with reductions over rows (codegen/tiling/emitter/row_kernel.h), an invocation only
// reads the part of a row that it writes.
// CHECK-LABEL: func @rows
// CHECK: %[[P:.*]] = gantry.dispatch(%arg0)
// CHECK: gantry.dispatch(%[[P]]){{.*}}in_place = 0 : i64, {{.*}}rows}
// The second kernel also reads the transposed operand. Another invocation could overwrite that element before it
// is read, so the kernel is not in place.
// CHECK-LABEL: func @rows_and_columns
// CHECK: , rows}
// CHECK-NOT: in_place
func.func @rows(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<8x1xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %v = arith.addf %o, %m : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%er : tensor<8x1xf32>) -> tensor<8x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x8xf32>) outs(%i : tensor<8x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<8x1xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<8x8xf32>, tensor<8x1xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @rows_and_columns(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<8x1xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %v = arith.addf %o, %m : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%er : tensor<8x1xf32>) -> tensor<8x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x8xf32>) outs(%i : tensor<8x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<8x1xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #t, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %s, %p : tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    %v = arith.addf %q, %d : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The next value of a state is written over the old value. The pass prefers this to the storage of a transient
// that the dispatch is the last to use.
// CHECK-LABEL: func @state
// CHECK: %[[E:.*]] = gantry.dispatch(%arg1)
// CHECK: %[[S:.*]] = gantry.dispatch(%[[E]])
// CHECK: gantry.dispatch(%[[E]], %[[S]], %arg0){{.*}}in_place = 2
func.func @state(%w: tensor<8x8xf32> {gantry.state = #gantry.state<result = 0>}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %er = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1, %w : tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
    %v = arith.divf %p, %q : f32
    %n = arith.subf %r, %v : f32
    linalg.yield %n : f32
  } -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A state is not overwritten if the program also returns its old value (%w), or if runs only read it (%v).
// CHECK-LABEL: func @kept
// CHECK-NOT: in_place
// CHECK: return
func.func @kept(%w: tensor<64xf32> {gantry.state = #gantry.state<result = 0>}, %v: tensor<64xf32> {gantry.state = #gantry.state}) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%w, %v : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %other = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %next, %w, %other : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

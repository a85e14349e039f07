// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(distribute-elementwise))' | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channel = affine_map<(d0, d1, d2) -> (d1)>
#last = affine_map<(d0, d1, d2) -> (d2)>

// The scale of each channel is the same for all parts, so each part is scaled.
// CHECK-LABEL: func @scaled
// CHECK-SAME: (%[[A:.*]]: tensor<2x4x3xf32>, %[[B:.*]]: tensor<2x4x3xf32>, %[[S:.*]]: tensor<4xf32>)
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[S]] : tensor<2x4x3xf32>, tensor<4xf32>)
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%[[B]], %[[S]] : tensor<2x4x3xf32>, tensor<4xf32>)
// CHECK: %[[R:.*]] = gantry.concat %[[C]], %[[D]] along 2 interleaved {{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: return %[[R]]
func.func @scaled(%a: tensor<2x4x3xf32>, %b: tensor<2x4x3xf32>, %s: tensor<4xf32>) -> tensor<2x4x6xf32> {
  %y = gantry.concat %a, %b along 2 interleaved : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x6xf32>
  %e = tensor.empty() : tensor<2x4x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<2x4x6xf32>, tensor<4xf32>) outs(%e : tensor<2x4x6xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.mulf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Two dimensions are interleaved, and two operators follow. The batch is dynamic, and the type changes.
// CHECK-LABEL: func @nested
// CHECK-COUNT-4: arith.truncf
// CHECK: gantry.concat {{.*}} along 2 interleaved : (tensor<?x3x3xf16>, tensor<?x3x3xf16>) -> tensor<?x3x6xf16>
// CHECK: gantry.concat {{.*}} along 1 interleaved : (tensor<?x3x6xf16>, tensor<?x3x6xf16>) -> tensor<?x6x6xf16>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @nested(%a: tensor<?x3x3xf32>, %b: tensor<?x3x3xf32>, %c: tensor<?x3x3xf32>, %d: tensor<?x3x3xf32>, %n: index) -> tensor<?x6x6xf16> {
  %0 = gantry.concat %a, %b along 2 interleaved : (tensor<?x3x3xf32>, tensor<?x3x3xf32>) -> tensor<?x3x6xf32>
  %1 = gantry.concat %c, %d along 2 interleaved : (tensor<?x3x3xf32>, tensor<?x3x3xf32>) -> tensor<?x3x6xf32>
  %y = gantry.concat %0, %1 along 1 interleaved : (tensor<?x3x6xf32>, tensor<?x3x6xf32>) -> tensor<?x6x6xf32>
  %e = tensor.empty(%n) : tensor<?x6x6xf32>
  %f = tensor.empty(%n) : tensor<?x6x6xf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<?x6x6xf32>) outs(%e : tensor<?x6x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<?x6x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<?x6x6xf32>) outs(%f : tensor<?x6x6xf16>) {
  ^bb0(%p: f32, %o: f16):
    %v = arith.truncf %p : f32 to f16
    linalg.yield %v : f16
  } -> tensor<?x6x6xf16>
  return %3 : tensor<?x6x6xf16>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// The other operand differs between the parts.
// CHECK-LABEL: func @added
// CHECK: gantry.concat %arg0, %arg1
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @added(%a: tensor<2x4x3xf32>, %b: tensor<2x4x3xf32>, %s: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %y = gantry.concat %a, %b along 2 interleaved : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x6xf32>
  %e = tensor.empty() : tensor<2x4x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<2x4x6xf32>, tensor<2x4x6xf32>) outs(%e : tensor<2x4x6xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// The program also returns the tensor, so it is stored without the operator in any case.
// CHECK-LABEL: func @returned
// CHECK: gantry.concat %arg0, %arg1
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @returned(%a: tensor<2x4x3xf32>, %b: tensor<2x4x3xf32>) -> (tensor<2x4x6xf32>, tensor<2x4x6xf32>) {
  %y = gantry.concat %a, %b along 2 interleaved : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x6xf32>
  %e = tensor.empty() : tensor<2x4x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<2x4x6xf32>) outs(%e : tensor<2x4x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<2x4x6xf32>
  return %y, %r : tensor<2x4x6xf32>, tensor<2x4x6xf32>
}

// -----

#x = affine_map<(n, c, r, p, k) -> (n, k, r)>
#w = affine_map<(n, c, r, p, k) -> (c, p, k)>
#y = affine_map<(n, c, r, p, k) -> (n, c, r, p)>
#unfold = affine_map<(n, c, h) -> (n, c, h floordiv 2, h mod 2)>
#id = affine_map<(n, c, h) -> (n, c, h)>
#channel = affine_map<(n, c, h) -> (c)>

// One sum computes two phases, which are then unfolded. The bias is added to the sum.
// CHECK-LABEL: func @phases
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"reduction"]
// CHECK: %[[BIASED:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %{{.*}} : tensor<1x4x5x2xf32>, tensor<4xf32>)
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[BIASED]] : tensor<1x4x5x2xf32>) outs(%{{.*}} : tensor<1x4x10xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @phases(%x: tensor<1x3x5xf32>, %w: tensor<4x2x3xf32>, %bias: tensor<4xf32>) -> tensor<1x4x10xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x5x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %m = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x5xf32>, tensor<4x2x3xf32>) outs(%f : tensor<1x4x5x2xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x4x5x2xf32>
  %o = tensor.empty() : tensor<1x4x10xf32>
  %u = linalg.generic {indexing_maps = [#unfold, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : tensor<1x4x5x2xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<1x4x10xf32>
  %r = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u, %bias : tensor<1x4x10xf32>, tensor<4xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x10xf32>
  return %r : tensor<1x4x10xf32>
}

// -----

#x = affine_map<(n, c, r, p, k) -> (n, k, r)>
#w = affine_map<(n, c, r, p, k) -> (c, p, k)>
#y = affine_map<(n, c, r, p, k) -> (n, c, r, p)>
#unfold = affine_map<(n, c, h) -> (n, c, h floordiv 2, h mod 2)>
#id = affine_map<(n, c, h) -> (n, c, h)>
#channel = affine_map<(n, c, h) -> (c)>
#last = affine_map<(n, c, h) -> (h)>

// The other operand varies along the dimension that the unfolding makes.
// CHECK-LABEL: func @along_positions
// CHECK: linalg.generic {{.*}}"reduction"]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x5x2xf32>) outs(%{{.*}} : tensor<1x4x10xf32>)
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @along_positions(%x: tensor<1x3x5xf32>, %w: tensor<4x2x3xf32>, %bias: tensor<10xf32>) -> tensor<1x4x10xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x5x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %m = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x5xf32>, tensor<4x2x3xf32>) outs(%f : tensor<1x4x5x2xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x4x5x2xf32>
  %o = tensor.empty() : tensor<1x4x10xf32>
  %u = linalg.generic {indexing_maps = [#unfold, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : tensor<1x4x5x2xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<1x4x10xf32>
  %r = linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u, %bias : tensor<1x4x10xf32>, tensor<10xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x10xf32>
  return %r : tensor<1x4x10xf32>
}

// -----

#x = affine_map<(n, c, r, p, k) -> (n, k, r)>
#w = affine_map<(n, c, r, p, k) -> (c, p, k)>
#y = affine_map<(n, c, r, p, k) -> (n, c, r, p)>
#unfold = affine_map<(n, c, h) -> (n, c, h floordiv 2, h mod 2)>
#id = affine_map<(n, c, h) -> (n, c, h)>
#channel = affine_map<(n, c, h) -> (c)>

// The program also returns the unfolded sum.
// CHECK-LABEL: func @unfolded_twice
// CHECK: linalg.generic {{.*}}"reduction"]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x5x2xf32>) outs(%{{.*}} : tensor<1x4x10xf32>)
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @unfolded_twice(%x: tensor<1x3x5xf32>, %w: tensor<4x2x3xf32>, %bias: tensor<4xf32>) -> (tensor<1x4x10xf32>, tensor<1x4x10xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x5x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %m = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x5xf32>, tensor<4x2x3xf32>) outs(%f : tensor<1x4x5x2xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x4x5x2xf32>
  %o = tensor.empty() : tensor<1x4x10xf32>
  %u = linalg.generic {indexing_maps = [#unfold, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : tensor<1x4x5x2xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<1x4x10xf32>
  %r = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u, %bias : tensor<1x4x10xf32>, tensor<4xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x10xf32>
  return %r, %u : tensor<1x4x10xf32>, tensor<1x4x10xf32>
}

// -----

#x = affine_map<(n, c, r, p, k) -> (n, k, r)>
#w = affine_map<(n, c, r, p, k) -> (c, p, k)>
#y = affine_map<(n, c, r, p, k) -> (n, c, r, p)>
#unfold = affine_map<(n, c, h) -> (n, c, h floordiv 2, h mod 2)>
#id = affine_map<(n, c, h) -> (n, c, h)>
#channel = affine_map<(n, c, h) -> (c)>

// The program also returns the sum.
// CHECK-LABEL: func @sum_returned
// CHECK: linalg.generic {{.*}}"reduction"]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x5x2xf32>) outs(%{{.*}} : tensor<1x4x10xf32>)
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @sum_returned(%x: tensor<1x3x5xf32>, %w: tensor<4x2x3xf32>, %bias: tensor<4xf32>) -> (tensor<1x4x10xf32>, tensor<1x4x5x2xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x5x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %m = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x5xf32>, tensor<4x2x3xf32>) outs(%f : tensor<1x4x5x2xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x4x5x2xf32>
  %o = tensor.empty() : tensor<1x4x10xf32>
  %u = linalg.generic {indexing_maps = [#unfold, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : tensor<1x4x5x2xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<1x4x10xf32>
  %r = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u, %bias : tensor<1x4x10xf32>, tensor<4xf32>) outs(%o : tensor<1x4x10xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x10xf32>
  return %r, %m : tensor<1x4x10xf32>, tensor<1x4x5x2xf32>
}

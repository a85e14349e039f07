// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(center-zero-points))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// x - 120 is (x - 128) + 8, so 8 times the sums of the constant's columns are added. The columns sum up
// to 10, 1 and -2; the constant's own zero point of 1 is subtracted four times from each.
// CHECK-LABEL: func @product
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: %[[X:.*]] = arith.extui
// CHECK: %[[MIDDLE:.*]] = arith.constant 128 : i32
// CHECK: arith.subi %[[X]], %[[MIDDLE]] : i32
// CHECK: arith.extsi
// CHECK: arith.constant 1 : i32
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: %[[ADDEND:.*]] = arith.constant dense<[48, -24, -48]> : tensor<3xi32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[$COLUMN:.*]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[SUM]], %[[ADDEND]] : tensor<2x3xi32>, tensor<3xi32>)
// CHECK: arith.addi
func.func @product(%x: tensor<2x4xi8>) -> tensor<2x3xi32> {
  %w = arith.constant dense<[[1, 0, -128], [2, 0, 127], [3, 0, 0], [4, 1, -1]]> : tensor<4x3xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x4xi8>, tensor<4x3xi8>) outs(%init : tensor<2x3xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %z = arith.constant 120 : i32
    %one = arith.constant 1 : i32
    %0 = arith.extui %p : i8 to i32
    %1 = arith.subi %0, %z : i32
    %2 = arith.extsi %q : i8 to i32
    %3 = arith.subi %2, %one : i32
    %4 = arith.muli %1, %3 : i32
    %5 = arith.addi %acc, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// -----

#a = affine_map<(m, n, k) -> (n, k)>
#b = affine_map<(m, n, k) -> (m, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// The constant is the first factor, and its elements are all 5. The zero point of x is 3, so the addend is
// -3 * (4 * 5).
// CHECK-LABEL: func @splat
// CHECK: arith.extsi
// CHECK: arith.extsi
// CHECK-NOT: arith.subi
// CHECK: arith.constant dense<-60> : tensor<3xi32>
func.func @splat(%x: tensor<2x4xi8>) -> tensor<2x3xi32> {
  %w = arith.constant dense<5> : tensor<3x4xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<3x4xi8>, tensor<2x4xi8>) outs(%init : tensor<2x3xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %z = arith.constant 3 : i32
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.subi %1, %z : i32
    %3 = arith.muli %0, %2 : i32
    %4 = arith.addi %acc, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Neither factor is a constant, so nothing changes.
// CHECK-LABEL: func @inputs
// CHECK: arith.constant 3 : i32
// CHECK-NOT: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
func.func @inputs(%x: tensor<2x4xi8>, %w: tensor<4x3xi8>) -> tensor<2x3xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x4xi8>, tensor<4x3xi8>) outs(%init : tensor<2x3xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %z = arith.constant 3 : i32
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.subi %0, %z : i32
    %2 = arith.extsi %q : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %acc, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#z = affine_map<(m, n, k) -> (m)>
#c = affine_map<(m, n, k) -> (m, n)>

// Each row has a zero point that is only known at run time. The addend is 128 minus the zero point, times
// the sums of the columns.
// CHECK: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @rows
// CHECK-SAME: (%{{.*}}: tensor<2x4xi8>, %[[Z:.*]]: tensor<2xi8>)
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: %[[SUMS:.*]] = arith.constant dense<[10, 1, -2]> : tensor<3xi32>
// CHECK: linalg.generic {{.*}}#[[$ROW]]
// CHECK-SAME: ins(%[[SUM]], %[[SUMS]], %[[Z]] : tensor<2x3xi32>, tensor<3xi32>, tensor<2xi8>)
// CHECK: ^bb0(%[[S:.*]]: i32, %[[C:.*]]: i32, %[[ZERO:.*]]: i8, %{{.*}}: i32):
// CHECK: %[[WIDE:.*]] = arith.extui %[[ZERO]] : i8 to i32
// CHECK: %[[MIDDLE:.*]] = arith.constant 128 : i32
// CHECK: %[[SHIFT:.*]] = arith.subi %[[MIDDLE]], %[[WIDE]] : i32
// CHECK: %[[TERM:.*]] = arith.muli %[[C]], %[[SHIFT]] : i32
// CHECK: arith.addi %[[S]], %[[TERM]] : i32
func.func @rows(%x: tensor<2x4xi8>, %z: tensor<2xi8>) -> tensor<2x3xi32> {
  %w = arith.constant dense<[[1, 0, -128], [2, 0, 127], [3, 0, 0], [4, 1, -1]]> : tensor<4x3xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #z, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %z : tensor<2x4xi8>, tensor<4x3xi8>, tensor<2xi8>) outs(%init : tensor<2x3xi32>) {
  ^bb0(%p: i8, %q: i8, %s: i8, %acc: i32):
    %0 = arith.extui %p : i8 to i32
    %1 = arith.extui %s : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extsi %q : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %acc, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n, 0)>
#c = affine_map<(m, n, k) -> (m, n)>

// The reduction reads only the first element of each pair in the constant, so nothing changes.
// CHECK-LABEL: func @first
// CHECK: linalg.generic
// CHECK: arith.constant 5 : i32
// CHECK: arith.subi
// CHECK-NOT: linalg.generic
func.func @first(%x: tensor<2x4xi8>) -> tensor<2x3xi32> {
  %w = arith.constant dense<[[[1, 7], [2, 7], [3, 7]], [[4, 7], [5, 7], [6, 7]], [[1, 7], [2, 7], [3, 7]], [[4, 7], [5, 7], [6, 7]]]> : tensor<4x3x2xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x4xi8>, tensor<4x3x2xi8>) outs(%init : tensor<2x3xi32>) {
  ^bb0(%p: i8, %q: i8, %sum: i32):
    %five = arith.constant 5 : i32
    %0 = arith.extui %p : i8 to i32
    %1 = arith.subi %0, %five : i32
    %2 = arith.extsi %q : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %sum, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

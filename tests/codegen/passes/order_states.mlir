// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(order-states))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(order-states,place-scatters,form-dispatches))' | FileCheck %s --check-prefix=PLACED

// The rows become the first dimension of a state with heads. Its readers read a transposition.
// CHECK-LABEL: func @heads
// CHECK-SAME: %arg0: tensor<?x1x4x8xf32> {gantry.port = #gantry.port<name = "past", dims = [<"past", max = 16>, <"">, <"">, <"">]>, gantry.state = #gantry.state<result = 0, order = [2, 0, 1, 3]>}
// CHECK-SAME: -> (tensor<?x1x4x8xf32>, tensor<1x4x?x8xf32>)
// CHECK: tensor.dim %arg0, %c0
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<1x4x3x8xf32>) outs(%{{.*}} : tensor<3x1x4x8xf32>)
// CHECK: %[[NEXT:.*]] = tensor.concat dim(0) %arg0, %[[ROWS]] {gantry.tensor = "present"} : (tensor<?x1x4x8xf32>, tensor<3x1x4x8xf32>) -> tensor<?x1x4x8xf32>
// CHECK: %[[READ:.*]] = linalg.generic {{.*}} ins(%[[NEXT]] : tensor<?x1x4x8xf32>) outs(%{{.*}} : tensor<1x4x?x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[READ]] : tensor<1x4x?x8xf32>)
// CHECK: return %[[NEXT]]
// PLACED-LABEL: func @heads
// PLACED: gantry.dispatch({{.*}}in_place = {{[0-9]}}{{.*}}scattered
// PLACED: math.exp
// PLACED-LABEL: func @shared
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @heads(%s: tensor<1x4x?x8xf32> {gantry.port = #gantry.port<name = "past", dims = [<"">, <"">, <"past", max = 16>, <"">]>, gantry.state = #gantry.state<result = 0>},
    %x: tensor<1x4x3x8xf32>) -> (tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>) {
  %c2 = arith.constant 2 : index
  %0 = tensor.concat dim(2) %s, %x {gantry.tensor = "present"} : (tensor<1x4x?x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x?x8xf32>
  %n = tensor.dim %s, %c2 : tensor<1x4x?x8xf32>
  %m = affine.apply affine_map<()[s0] -> (s0 + 3)>()[%n]
  %e = tensor.empty(%m) : tensor<1x4x?x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0 : tensor<1x4x?x8xf32>) outs(%e : tensor<1x4x?x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x4x?x8xf32>
  return %0, %1 : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>
}

// -----

// A program that only reads the state, or only writes it, needs the order of one that lets it grow.
// CHECK-LABEL: func @shared
// CHECK-SAME: %arg0: tensor<?x2x8xf32> {gantry.state = #gantry.state<order = [1, 0, 2]>}
// CHECK-SAME: %arg1: tensor<?x2x8xf32> {gantry.state = #gantry.state<result = 1, order = [1, 0, 2]>}
// CHECK-SAME: -> (tensor<2x?x8xf32>, tensor<?x2x8xf32>)
// CHECK: tensor.dim %arg0, %c0
// CHECK: %[[READ:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<?x2x8xf32>) outs(%{{.*}} : tensor<2x?x8xf32>)
// CHECK: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[READ]] : tensor<2x?x8xf32>)
// CHECK: %[[STORED:.*]] = linalg.generic {{.*}} ins(%[[NEXT]] : tensor<2x?x8xf32>) outs(%{{.*}} : tensor<?x2x8xf32>)
// CHECK: return %[[NEXT]], %[[STORED]]
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @shared(%a: tensor<2x?x8xf32> {gantry.state = #gantry.state},
    %b: tensor<2x?x8xf32> {gantry.state = #gantry.state<result = 1>}) -> (tensor<2x?x8xf32>, tensor<2x?x8xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c1 : tensor<2x?x8xf32>
  %e = tensor.empty(%n) : tensor<2x?x8xf32>
  %0 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : tensor<2x?x8xf32>) outs(%e : tensor<2x?x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<2x?x8xf32>
  return %0, %0 : tensor<2x?x8xf32>, tensor<2x?x8xf32>
}

// -----

// Unchanged: rows that follow the old ones already, a state that something else reads, a concatenation before the
// state, one of an input that is no state, and rows whose other sizes are known while the state's are not.
// CHECK-LABEL: func @unchanged
// CHECK-NOT: order =
// CHECK: return
func.func @unchanged(%a: tensor<1x?x8xf32> {gantry.state = #gantry.state<result = 0>},
    %b: tensor<2x?x8xf32> {gantry.state = #gantry.state<result = 1>},
    %c: tensor<2x?x8xf32> {gantry.state = #gantry.state<result = 2>}, %d: tensor<2x?x8xf32>,
    %f: tensor<?x?x8xf32> {gantry.state = #gantry.state<result = 5>}, %x: tensor<1x3x8xf32>, %y: tensor<2x3x8xf32>)
    -> (tensor<1x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = tensor.concat dim(1) %a, %x : (tensor<1x?x8xf32>, tensor<1x3x8xf32>) -> tensor<1x?x8xf32>
  %1 = tensor.concat dim(1) %b, %y : (tensor<2x?x8xf32>, tensor<2x3x8xf32>) -> tensor<2x?x8xf32>
  %2 = tensor.concat dim(1) %y, %c : (tensor<2x3x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  %3 = tensor.concat dim(1) %d, %y : (tensor<2x?x8xf32>, tensor<2x3x8xf32>) -> tensor<2x?x8xf32>
  %4 = tensor.concat dim(1) %f, %y : (tensor<?x?x8xf32>, tensor<2x3x8xf32>) -> tensor<?x?x8xf32>
  return %0, %1, %2, %3, %b, %4 : tensor<1x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<?x?x8xf32>
}

// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-scatters,form-dispatches))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-scatters,form-dispatches),outline-kernels)' | FileCheck %s --check-prefix=KERNEL
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-scatters,form-dispatches,narrow-floats))' | FileCheck %s --check-prefix=HALF

// An operator computes the tensor whose rows are replaced, and nothing else uses it, so the rows are written into
// it. The operators that compute the rows and their positions belong to the dispatch.
// CHECK-LABEL: func @computed
// CHECK: %[[A:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: gantry.dispatch({{.*}}%[[A]]{{.*}}) {{.*}}in_place = [[I:[0-9]]]{{.*}}scattered = array<i64: 2, 3>
// CHECK-DAG: math.absf
// CHECK-DAG: arith.addi
// CHECK: gantry.yield %{{.*}} at %{{.*}} : tensor<2x3xi32> : tensor<2x3x4xf32>
// CHECK-NOT: copy_reason
// KERNEL-LABEL: func @computed
// KERNEL: func.func @kernel_1({{.*}}) -> (tensor<2x3x4xf32>, tensor<2x3xi32>)
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @computed(%x: tensor<16x4xf32>, %u: tensor<2x3x4xf32>, %i: tensor<2x3xi32>) -> tensor<16x4xf32> {
  %e = tensor.empty() : tensor<16x4xf32>
  %f = tensor.empty() : tensor<2x3x4xf32>
  %g = tensor.empty() : tensor<2x3xi32>
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x4xf32>) outs(%e : tensor<16x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<16x4xf32>
  %1 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%u : tensor<2x3x4xf32>) outs(%f : tensor<2x3x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<2x3x4xf32>
  %2 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<2x3xi32>) outs(%g : tensor<2x3xi32>) {
  ^bb0(%p: i32, %o: i32):
    %v = arith.addi %p, %p : i32
    linalg.yield %v : i32
  } -> tensor<2x3xi32>
  %3 = gantry.scatter %1 into %0 at %2 : tensor<2x3x4xf32> into tensor<16x4xf32> at tensor<2x3xi32>
  return %3 : tensor<16x4xf32>
}

// -----

// The caller keeps an input, unless it is donated or a state whose next value is the result. A
// result that the program returns lies in the caller's output and not in a donated input.
// CHECK-LABEL: func @inputs
// CHECK-DAG: copy_reason = "the caller keeps the input"
// CHECK-DAG: copy_reason = "the result lies in the caller's output"
// CHECK-DAG: copy_reason = "the input is a state that keeps its value"
// CHECK-DAG: gantry.dispatch({{.*}}%arg4{{.*}}in_place{{.*}}scattered
// CHECK-DAG: gantry.dispatch({{.*}}%arg5{{.*}}in_place{{.*}}scattered
func.func @inputs(%u: tensor<1x4xf32>, %i: tensor<1xi32>, %kept: tensor<8x4xf32>,
    %returned: tensor<8x4xf32> {gantry.port = #gantry.port<name = "returned", dims = [<"">, <"">], donated = true>},
    %donated: tensor<8x4xf32> {gantry.port = #gantry.port<name = "donated", dims = [<"">, <"">], donated = true>},
    %next: tensor<8x4xf32> {gantry.state = #gantry.state<result = 3>},
    %same: tensor<8x4xf32> {gantry.state = #gantry.state<result = -1>})
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = gantry.scatter %u into %kept at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  %1 = gantry.scatter %u into %returned at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  %2 = gantry.scatter %u into %donated at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  %3 = gantry.scatter %u into %next at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  %4 = gantry.scatter %u into %same at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  %e = tensor.empty() : tensor<8x4xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %0, %1, %5, %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A tensor is copied if it has other users, is a constant, or is returned before its rows are replaced.
// CHECK-LABEL: func @used
// CHECK-DAG: copy_reason = "the tensor is used besides the replacement of its rows"
// CHECK-DAG: copy_reason = "the tensor is a constant"
// CHECK-DAG: copy_reason = "the program returns the tensor before its rows are replaced"
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @used(%x: tensor<8x4xf32>, %u: tensor<1x4xf32>, %i: tensor<1xi32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<8x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  %1 = gantry.scatter %u into %0 at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  %3 = gantry.scatter %u into %zeros at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  %4 = gantry.scatter %u into %2 at %i : tensor<1x4xf32> into tensor<8x4xf32> at tensor<1xi32>
  return %2, %3, %4, %1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A scatter between two dispatches is stored as f16 as a whole: the tensor, its new rows, and the result.
// HALF-LABEL: func @half
// HALF: gantry.dispatch(%arg0)
// HALF-SAME: -> tensor<?x4xf16>
// HALF: gantry.dispatch(
// HALF-SAME: scattered = array<i64: -{{[0-9]}}>
// HALF-SAME: -> tensor<?x4xf16>
// HALF: arith.truncf
// HALF: gantry.yield %{{.*}} at %{{.*}} : tensor<?xi32> : tensor<?x4xf16>
// HALF: gantry.dispatch(
// HALF-SAME: -> tensor<?x4xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @half(%x: tensor<?x4xf32>, %u: tensor<?x4xf32>, %i: tensor<?xi32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  %1 = gantry.scatter %u into %0 at %i : tensor<?x4xf32> into tensor<?x4xf32> at tensor<?xi32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// Rows are appended to a state: a dispatch writes them after the old ones. Dimensions of size 1 may come first.
// CHECK-LABEL: func @appended
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c1
// CHECK: %[[STATE:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<1x?x4xf32> into tensor<?x4xf32>
// CHECK: %[[NEXT:.*]] = gantry.dispatch({{.*}}%[[STATE]]{{.*}}in_place = {{[0-9]}}{{.*}}scattered = array<i64: 1, 3>
// CHECK: math.exp
// CHECK: linalg.index 1
// CHECK: tensor.expand_shape %[[NEXT]]
// CHECK-NOT: copy_reason
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @appended(%s: tensor<1x?x4xf32> {gantry.state = #gantry.state<result = 0>}, %x: tensor<1x3x4xf32>) -> tensor<1x?x4xf32> {
  %e = tensor.empty() : tensor<1x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<1x3x4xf32>) outs(%e : tensor<1x3x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x3x4xf32>
  %1 = tensor.concat dim(1) %s, %0 : (tensor<1x?x4xf32>, tensor<1x3x4xf32>) -> tensor<1x?x4xf32>
  return %1 : tensor<1x?x4xf32>
}

// -----

// The rows of the state are not contiguous after the change, or an operator reads the old state: no scatter.
// CHECK-LABEL: func @not_appended
// CHECK-NOT: scattered
func.func @not_appended(%s: tensor<2x?x4xf32> {gantry.state = #gantry.state<result = 0>},
    %t: tensor<?x4xf32> {gantry.state = #gantry.state<result = 1>}, %x: tensor<2x3x4xf32>, %y: tensor<3x4xf32>)
    -> (tensor<2x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = tensor.concat dim(1) %s, %x : (tensor<2x?x4xf32>, tensor<2x3x4xf32>) -> tensor<2x?x4xf32>
  %1 = tensor.concat dim(0) %t, %y : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %2 = tensor.concat dim(0) %y, %t : (tensor<3x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0, %1, %2 : tensor<2x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

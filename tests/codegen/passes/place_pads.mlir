// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-pads{dispatch=100}))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-pads{dispatch=100000}))' | FileCheck %s --check-prefix=COSTLY
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-pads{dispatch=100},place-concats,form-dispatches))' | FileCheck %s --check-prefix=VIEW

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// The matmul writes the interior of the output, and three dispatches fill its border. No dispatch copies a tensor. If
// dispatches are costly, one copies the interior instead.
// CHECK-LABEL: func @returned
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
// CHECK: %[[RIGHT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x2xf32>) attrs =  {gantry.stored} {
// CHECK: arith.constant 3.0
// CHECK: %[[ROWS:.*]] = tensor.concat dim(1) %[[M]], %[[RIGHT]]
// CHECK: %[[TOP:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x66xf32>)
// CHECK: %[[BOTTOM:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x66xf32>)
// CHECK: %[[P:.*]] = tensor.concat dim(0) %[[TOP]], %[[ROWS]], %[[BOTTOM]] {gantry.tensor = "padded"}
// CHECK: return %[[P]]
// COSTLY-LABEL: func @returned
// COSTLY: tensor.pad
// COSTLY-NOT: tensor.concat
// VIEW-LABEL: func @returned
// VIEW-COUNT-2: gantry.dispatch
// VIEW: %[[ROWS:.*]] = gantry.concat
// VIEW-COUNT-2: gantry.dispatch
// VIEW: gantry.concat %{{.*}}, %[[ROWS]], %{{.*}} along 0
// VIEW-NOT: copy_reason
// VIEW: return
func.func @returned(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<69x66xf32> {
  %z = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x64xf32>
  %padded = tensor.pad %m low[1, 0] high[4, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %three : f32
  } {gantry.tensor = "padded"} : tensor<64x64xf32> to tensor<69x66xf32>
  return %padded : tensor<69x66xf32>
}

// -----

// An elementwise operator alone can evaluate the pad in the dispatch that stores it.
// CHECK-LABEL: func @elementwise
// CHECK: tensor.pad
// CHECK-NOT: tensor.concat
#id = affine_map<(m, n) -> (m, n)>
func.func @elementwise(%x: tensor<64x64xf32>) -> tensor<69x66xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %padded = tensor.pad %m low[1, 0] high[4, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<64x64xf32> to tensor<69x66xf32>
  return %padded : tensor<69x66xf32>
}

// -----

// The reader of a pad evaluates it, so it is not stored.
// CHECK-LABEL: func @read
// CHECK: tensor.pad
// CHECK-NOT: tensor.concat
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
func.func @read(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<69x66xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x64xf32>
  %padded = tensor.pad %m low[1, 0] high[4, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<64x64xf32> to tensor<69x66xf32>
  %t = tensor.empty() : tensor<69x66xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%padded : tensor<69x66xf32>) outs(%t : tensor<69x66xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<69x66xf32>
  return %y : tensor<69x66xf32>
}

// -----

// The padding depends on the index, so no dispatch can fill the border with a constant.
// CHECK-LABEL: func @index_padding
// CHECK: tensor.pad
// CHECK-NOT: tensor.concat
func.func @index_padding(%x: tensor<64x64xf32>) -> tensor<69x66xf32> {
  %padded = tensor.pad %x low[1, 0] high[4, 2] {
  ^bb0(%i: index, %j: index):
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<64x64xf32> to tensor<69x66xf32>
  return %padded : tensor<69x66xf32>
}

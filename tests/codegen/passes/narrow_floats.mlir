// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(form-dispatches,narrow-floats))' | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(m, n) -> (m, 0)>

// A tensor between two dispatches is f16: it is truncated when it is written and extended when it is
// read. The function's argument and result keep their types.
// CHECK-LABEL: func @between
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[W:.*]] = arith.constant dense_resource<narrow> : tensor<4x8xf16>
// CHECK: %[[A:.*]] = gantry.dispatch(%[[X]], %[[W]])
// CHECK-SAME: (tensor<4x8xf32>, tensor<4x8xf16>{{.*}}) -> tensor<4x1xf16>
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.maximumf {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to f16
// CHECK: gantry.dispatch(%[[A]])
// CHECK-SAME: (tensor<4x1xf16>{{.*}}) -> tensor<4x8xf32>
// CHECK: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @between(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = arith.constant dense<"0x000080BF0000004000004040000080400000A0400000C0400000E040000000410000803F0000004000004040000080400000A0400000C0400000E040000000410000803F0000004000004040000080400000A0400000C0400000E040000000410000803F0000004000004040000080400000A0400000C0400000E04000000041"> : tensor<4x8xf32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %0 = arith.mulf %e, %f : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x1xf32>) -> tensor<4x1xf32>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%init : tensor<4x1xf32>) {
  ^bb0(%e: f32, %acc: f32):
    %0 = arith.maximumf %acc, %e : f32
    linalg.yield %0 : f32
  } -> tensor<4x1xf32>
  %c = tensor.concat dim(1) %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(m, n) -> (m, 0)>

// A sum may exceed the range of f16, even if its reader divides it into a mean, so it stays f32.
// CHECK-LABEL: func @mean
// CHECK: %[[SUM:.*]] = gantry.dispatch
// CHECK-SAME: -> tensor<4x1xf32>
// CHECK-NOT: arith.truncf
// CHECK: gantry.dispatch({{.*}}%[[SUM]]
func.func @mean(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 8.0 : f32
  %e1 = tensor.empty() : tensor<4x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x1xf32>) -> tensor<4x1xf32>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%init : tensor<4x1xf32>) {
  ^bb0(%e: f32, %acc: f32):
    %0 = arith.addf %acc, %e : f32
    linalg.yield %0 : f32
  } -> tensor<4x1xf32>
  %c = tensor.concat dim(1) %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A result of the program keeps its type even where a dispatch reads it, too. Dynamic sizes are kept.
// CHECK-LABEL: func @returned
// CHECK: %[[A:.*]] = gantry.dispatch
// CHECK-SAME: -> tensor<?xf32>
// CHECK: %[[B:.*]] = gantry.dispatch(%[[A]])
// CHECK-SAME: (tensor<?xf32>, index{{.*}}) -> tensor<?xf32>
// CHECK: return %[[A]], %[[B]]
func.func @returned(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %0 = arith.negf %e : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %0 = math.sqrt %e : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

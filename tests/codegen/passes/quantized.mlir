// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(sum-integers,form-dispatches))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// A matmul with its dequantization and quantization is one dispatch on bytes.
// CHECK-LABEL: func @quantized
// CHECK: gantry.dispatch
// CHECK-SAME: (tensor<4x16xi8>, tensor<8x16xi8>, tensor<8xf32>{{.*}}) -> tensor<4x8xi8>
// CHECK: arith.muli
// CHECK: math.roundeven
// CHECK-NOT: gantry.dispatch
// CHECK: return
func.func @quantized(%q: tensor<4x16xi8>, %p: tensor<8x16xi8>, %scales: tensor<8xf32>) -> tensor<4x8xi8> {
  %ex = tensor.empty() : tensor<4x16xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<4x16xi8>) outs(%ex : tensor<4x16xf32>) {
  ^bb0(%a: i8, %o: f32):
    %zero = arith.constant 128 : i32
    %scale = arith.constant 0.5 : f32
    %0 = arith.extui %a : i8 to i32
    %1 = arith.subi %0, %zero : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %scale : f32
    linalg.yield %3 : f32
  } -> tensor<4x16xf32>
  %ew = tensor.empty() : tensor<8x16xf32>
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %scales : tensor<8x16xi8>, tensor<8xf32>) outs(%ew : tensor<8x16xf32>) {
  ^bb0(%a: i8, %s: f32, %o: f32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<8x16xf32>
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<4x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x16xf32>, tensor<8x16xf32>) outs(%init : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %eq = tensor.empty() : tensor<4x8xi8>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x8xf32>) outs(%eq : tensor<4x8xi8>) {
  ^bb0(%a: f32, %o: i8):
    %scale = arith.constant 3.0 : f32
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %0 = arith.divf %a, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.maximumf %1, %low : f32
    %3 = arith.minimumf %2, %high : f32
    %4 = arith.fptosi %3 : f32 to i32
    %5 = arith.trunci %4 : i32 to i8
    linalg.yield %5 : i8
  } -> tensor<4x8xi8>
  return %z : tensor<4x8xi8>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Constant weights are dequantized when they are loaded, and are not stored as f32.
// CHECK-LABEL: func @weights
// CHECK: %[[W:.*]] = arith.constant {{.*}} : tensor<2x16xi8>
// CHECK: gantry.dispatch(%{{.*}}, %[[W]])
// CHECK-NOT: gantry.dispatch
// CHECK: return
func.func @weights(%x: tensor<4x16xf32>) -> tensor<4x2xf32> {
  %p = arith.constant dense<"0x0102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F20"> : tensor<2x16xi8>
  %ew = tensor.empty() : tensor<2x16xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<2x16xi8>) outs(%ew : tensor<2x16xf32>) {
  ^bb0(%a: i8, %o: f32):
    %scale = arith.constant 0.25 : f32
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %scale : f32
    linalg.yield %2 : f32
  } -> tensor<2x16xf32>
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<4x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x16xf32>, tensor<2x16xf32>) outs(%init : tensor<4x2xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

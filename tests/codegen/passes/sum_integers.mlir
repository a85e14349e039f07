// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(sum-integers))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Both operands are dequantized: x per tensor with a zero point, w with one scale per column.
// CHECK-LABEL: func @product
// CHECK-SAME: (%[[X:.*]]: tensor<4x16xi8>, %[[W:.*]]: tensor<8x16xi8>, %[[SCALES:.*]]: tensor<8xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]], %[[W]] : tensor<4x16xi8>, tensor<8x16xi8>)
// CHECK-DAG: arith.extui {{.*}} : i8 to i32
// CHECK-DAG: arith.extsi {{.*}} : i8 to i32
// CHECK: arith.muli {{.*}} : i32
// CHECK: arith.addi {{.*}} : i32
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[SUM]], %[[SCALES]] : tensor<4x8xi32>, tensor<8xf32>)
// CHECK: arith.sitofp {{.*}} : i32 to f32
// CHECK-NOT: linalg.generic
func.func @product(%q: tensor<4x16xi8>, %p: tensor<8x16xi8>, %scales: tensor<8xf32>) -> tensor<4x8xf32> {
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
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
#x = affine_map<(o, k) -> (o + k)>
#w = affine_map<(o, k) -> (k)>
#y = affine_map<(o, k) -> (o)>

// A pad of the dequantized tensor with 0 becomes a pad of the bytes with the zero point.
// CHECK-LABEL: func @padded
// CHECK: %[[ZERO:.*]] = arith.constant 7 : i8
// CHECK: tensor.pad
// CHECK: tensor.yield %[[ZERO]] : i8
// CHECK: } : tensor<6xi8> to tensor<8xi8>
func.func @padded(%q: tensor<6xi8>, %p: tensor<3xi8>) -> tensor<6xf32> {
  %ex = tensor.empty() : tensor<6xf32>
  %x = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%q : tensor<6xi8>) outs(%ex : tensor<6xf32>) {
  ^bb0(%a: i8, %o: f32):
    %seven = arith.constant 7 : i8
    %scale = arith.constant 0.5 : f32
    %0 = arith.extsi %a : i8 to i32
    %z = arith.extsi %seven : i8 to i32
    %1 = arith.subi %0, %z : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %scale : f32
    linalg.yield %3 : f32
  } -> tensor<6xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<6xf32> to tensor<8xf32>
  %ew = tensor.empty() : tensor<3xf32>
  %w = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%p : tensor<3xi8>) outs(%ew : tensor<3xf32>) {
  ^bb0(%a: i8, %o: f32):
    %scale = arith.constant 0.25 : f32
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %scale : f32
    linalg.yield %2 : f32
  } -> tensor<3xf32>
  %ey = tensor.empty() : tensor<6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%ey : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %w : tensor<8xf32>, tensor<3xf32>) outs(%init : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// The sum of 65,536 products of up to 255 * 255 may overflow 32 bits, so nothing changes.
// CHECK-LABEL: func @tooLong
// CHECK-NOT: arith.muli
func.func @tooLong(%q: tensor<2x65536xi8>) -> tensor<2x2xf32> {
  %ex = tensor.empty() : tensor<2x65536xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<2x65536xi8>) outs(%ex : tensor<2x65536xf32>) {
  ^bb0(%a: i8, %o: f32):
    %scale = arith.constant 0.5 : f32
    %0 = arith.extui %a : i8 to i32
    %2 = arith.sitofp %0 : i32 to f32
    %3 = arith.mulf %2, %scale : f32
    linalg.yield %3 : f32
  } -> tensor<2x65536xf32>
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%ey : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<2x65536xf32>, tensor<2x65536xf32>) outs(%init : tensor<2x2xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

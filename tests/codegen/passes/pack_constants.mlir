// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pack-constants))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pack-constants{blocks=true}))' | FileCheck %s --check-prefix=BLOCKS
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pack-constants{dots=true}))' | FileCheck %s --check-prefix=DOTS

#x = affine_map<(oc, ow, ic, kw) -> (ic, ow + kw)>
#w = affine_map<(oc, ow, ic, kw) -> (oc, ic, kw)>
#o = affine_map<(oc, ow, ic, kw) -> (oc, ow)>

// The output channels of a filter become innermost, and the data is permuted.
// CHECK: affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
// CHECK-LABEL: func @filter
// CHECK: arith.constant dense_resource<packed> : tensor<2x1x4xf32>
// CHECK: packed: "0x40000000{{.*}}0000803F0000404{{.*}}
func.func @filter(%x: tensor<2x8xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]], [[7.0], [8.0]]]> : tensor<4x2x1xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x8xf32>, tensor<4x2x1xf32>) outs(%init : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// With `blocks`, the constant consists of blocks of eight columns. In a block, the elements of four steps of the
// reduction are a vec4 for each column.
// BLOCKS: affine_map<(d0, d1, d2) -> (d1 floordiv 8, d2 floordiv 4, d1, d2 mod 4)>
// BLOCKS-LABEL: func @splat
// BLOCKS: arith.constant dense<5.000000e-01> : tensor<1x4x8x4xf32>

// A splat only changes its type.
// CHECK-LABEL: func @splat
// CHECK: arith.constant dense<5.000000e-01> : tensor<16x8xf32>
func.func @splat(%x: tensor<4x16xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = arith.constant dense<0.5> : tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x16xf32>, tensor<8x16xf32>) outs(%init : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#x = affine_map<(c, ow, kw) -> (c, ow + kw)>
#w = affine_map<(c, ow, kw) -> (c, 0, kw)>
#o = affine_map<(c, ow, kw) -> (c, ow)>

// A depthwise filter, whose second dimension has one element, is permuted, too.
// CHECK: affine_map<(d0, d1, d2) -> (0, d2, d0)>
// CHECK-LABEL: func @depthwise
// CHECK: arith.constant dense_resource<packed> : tensor<1x2x4xf32>
// BLOCKS-LABEL: func @depthwise
// BLOCKS: arith.constant dense_resource<packed> : tensor<1x2x4xf32>
func.func @depthwise(%x: tensor<4x9xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]], [[7.0, 8.0]]]> : tensor<4x1x2xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x9xf32>, tensor<4x1x2xf32>) outs(%init : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>

// With `dots`, the bytes of four steps of the reduction lie together for each column, whatever the number of
// columns.
// DOTS: affine_map<(d0, d1, d2) -> (d2 floordiv 4, d1, d2 mod 4)>
// DOTS-LABEL: func @bytes
// DOTS: arith.constant dense_resource<packed> : tensor<2x3x4xi8>
// DOTS: packed: "0x400000000104070A0205080B0306090C1013161911141720121518
func.func @bytes(%x: tensor<2x8xi8>, %init: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %w = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12],
                             [16, 17, 18], [19, 20, 21], [22, 23, 24], [25, 32, 33]]> : tensor<8x3xi8>
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x8xi8>, tensor<8x3xi8>) outs(%init : tensor<2x3xi32>) {
  ^bb0(%a: i8, %b: i8, %acc: i32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

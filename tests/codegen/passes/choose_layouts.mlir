// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(choose-layouts))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(choose-layouts{bytes-only=true}))' | FileCheck %s --check-prefix=BYTES

#in = affine_map<(n, o, h, w, c, r, s) -> (n, c, h + r, w + s)>
#filter = affine_map<(n, o, h, w, c, r, s) -> (o, c, r, s)>
#out = affine_map<(n, o, h, w, c, r, s) -> (n, o, h, w)>
#id = affine_map<(n, o, h, w) -> (n, o, h, w)>

// The operands of a convolution are in blocks of four channels. Its result is an output of the program, which is
// row-major.
// BYTES-NOT: layouts =
// BYTES-LABEL: func @bytes
// CHECK-LABEL: func @convolution
// Inputs of the program are row-major, so the filter is copied into blocks.
// CHECK: gantry.dispatch(%arg1)
// CHECK-SAME: layouts = [#gantry.layout<[]>, #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>]
// CHECK: gantry.dispatch(%arg0)
// CHECK-SAME: layouts = [#gantry.layout<[]>, #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>]
// CHECK: gantry.dispatch
// CHECK-SAME: layouts = [#gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, #gantry.layout<[]>]
func.func @convolution(%x: tensor<1x8x10x10xf32>, %f: tensor<16x8x3x3xf32>) -> tensor<1x16x8x8xf32> {
  %a = gantry.dispatch (%x) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x10x10xf32>) -> tensor<1x8x10x10xf32> do {
  ^bb0(%p: tensor<1x8x10x10xf32>):
    %e = tensor.empty() : tensor<1x8x10x10xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<1x8x10x10xf32>) outs(%e : tensor<1x8x10x10xf32>) {
    ^bb0(%v: f32, %o: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
    } -> tensor<1x8x10x10xf32>
    gantry.yield %0 : tensor<1x8x10x10xf32>
  }
  %b = gantry.dispatch (%a, %f) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x10x10xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x8x8xf32> do {
  ^bb0(%p: tensor<1x8x10x10xf32>, %q: tensor<16x8x3x3xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x16x8x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %0 = linalg.generic {indexing_maps = [#in, #filter, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %q : tensor<1x8x10x10xf32>, tensor<16x8x3x3xf32>) outs(%i : tensor<1x16x8x8xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %m = arith.mulf %v, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x16x8x8xf32>
    gantry.yield %0 : tensor<1x16x8x8xf32>
  }
  return %b : tensor<1x16x8x8xf32>
}

// -----

#lhs = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#rhs = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#res = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#id = affine_map<(n, o, h, w) -> (n, o, h, w)>

// The heads of an attention are not channels: the operand of a matmul over the last dimension stays
// row-major.
// CHECK-LABEL: func @attention
// CHECK-NOT: layouts =
func.func @attention(%x: tensor<1x8x16x32xf32>, %f: tensor<1x8x16x32xf32>) -> tensor<1x8x16x16xf32> {
  %a = gantry.dispatch (%x) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x16x32xf32>) -> tensor<1x8x16x32xf32> do {
  ^bb0(%p: tensor<1x8x16x32xf32>):
    %e = tensor.empty() : tensor<1x8x16x32xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<1x8x16x32xf32>) outs(%e : tensor<1x8x16x32xf32>) {
    ^bb0(%v: f32, %o: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
    } -> tensor<1x8x16x32xf32>
    gantry.yield %0 : tensor<1x8x16x32xf32>
  }
  %b = gantry.dispatch (%a, %f) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x16x32xf32>, tensor<1x8x16x32xf32>) -> tensor<1x8x16x16xf32> do {
  ^bb0(%p: tensor<1x8x16x32xf32>, %q: tensor<1x8x16x32xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x8x16x16xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
    %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #res], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%p, %q : tensor<1x8x16x32xf32>, tensor<1x8x16x32xf32>) outs(%i : tensor<1x8x16x16xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %m = arith.mulf %v, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x8x16x16xf32>
    gantry.yield %0 : tensor<1x8x16x16xf32>
  }
  return %b : tensor<1x8x16x16xf32>
}

// -----

#lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#res = affine_map<(b, m, n, k) -> (b, m, n)>

// The operands of a matmul with a batch are no images, whichever dimension is reduced.
// CHECK-LABEL: func @batched
// CHECK-NOT: layouts =
// CHECK: return
func.func @batched(%x: tensor<8x64x64xf32>, %w: tensor<8x64x64xf32>) -> tensor<8x64x64xf32> {
  %y = gantry.dispatch (%x, %w) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64x64xf32> do {
  ^bb0(%p: tensor<8x64x64xf32>, %q: tensor<8x64x64xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x64x64xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
    %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #res], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %q : tensor<8x64x64xf32>, tensor<8x64x64xf32>) outs(%i : tensor<8x64x64xf32>) {
    ^bb0(%v: f32, %u: f32, %o: f32):
      %m = arith.mulf %v, %u : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x64x64xf32>
    gantry.yield %0 : tensor<8x64x64xf32>
  }
  return %y : tensor<8x64x64xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows 4 KiB apart compete for one cache set, so the left operand of a matmul is copied into panels of
// eight rows. Within a panel, blocks of four columns of each row follow each other.
// CHECK-LABEL: func @product
// CHECK: %[[PANELS:.*]] = gantry.dispatch(%arg0) {{.*}}layouts = [#gantry.layout<[]>, #gantry.layout<[0, 8, 1, 4, 0, 1, 1, 1]>]
// CHECK: gantry.dispatch(%[[PANELS]], %arg1) {{.*}}layouts = [#gantry.layout<[0, 8, 1, 4, 0, 1, 1, 1]>, #gantry.layout<[]>, #gantry.layout<[]>]
func.func @product(%a: tensor<128x1024xf32>, %b: tensor<1024x96xf32>) -> tensor<128x96xf32> {
  %y = gantry.dispatch (%a, %b) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<128x1024xf32>, tensor<1024x96xf32>) -> tensor<128x96xf32> do {
  ^bb0(%p: tensor<128x1024xf32>, %q: tensor<1024x96xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x96xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<128x96xf32>) -> tensor<128x96xf32>
    %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<128x1024xf32>, tensor<1024x96xf32>) outs(%i : tensor<128x96xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %m = arith.mulf %v, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<128x96xf32>
    gantry.yield %0 : tensor<128x96xf32>
  }
  return %y : tensor<128x96xf32>
}

// -----

#in = affine_map<(n, o, h, w, c, r, s) -> (n, c, h + r, w + s)>
#filter = affine_map<(n, o, h, w, c, r, s) -> (o, c, r, s)>
#out = affine_map<(n, o, h, w, c, r, s) -> (n, o, h, w)>

// With bytes-only, only the layout of an image of bytes changes: an i8 tensor that a convolution or
// a pool reads.
// BYTES: gantry.dispatch(%arg1)
// BYTES: gantry.dispatch(%arg0)
// BYTES-SAME: layouts = [#gantry.layout<[]>, #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>]
// BYTES: gantry.dispatch
// BYTES-SAME: layouts = [#gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, #gantry.layout<[]>]
func.func @bytes(%x: tensor<1x8x10x10xi8>, %f: tensor<16x8x3x3xi8>) -> tensor<1x16x8x8xi32> {
  %b = gantry.dispatch (%x, %f) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x10x10xi8>, tensor<16x8x3x3xi8>) -> tensor<1x16x8x8xi32> do {
  ^bb0(%p: tensor<1x8x10x10xi8>, %q: tensor<16x8x3x3xi8>):
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<1x16x8x8xi32>
    %i = linalg.fill ins(%zero : i32) outs(%e : tensor<1x16x8x8xi32>) -> tensor<1x16x8x8xi32>
    %0 = linalg.generic {indexing_maps = [#in, #filter, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%p, %q : tensor<1x8x10x10xi8>, tensor<16x8x3x3xi8>) outs(%i : tensor<1x16x8x8xi32>) {
    ^bb0(%v: i8, %w: i8, %acc: i32):
      %1 = arith.extui %v : i8 to i32
      %2 = arith.extsi %w : i8 to i32
      %3 = arith.muli %1, %2 : i32
      %4 = arith.addi %acc, %3 : i32
      linalg.yield %4 : i32
    } -> tensor<1x16x8x8xi32>
    gantry.yield %0 : tensor<1x16x8x8xi32>
  }
  return %b : tensor<1x16x8x8xi32>
}

// -----

#window = affine_map<(n, o, h, w, c, y, x) -> (n, c, h + y, w + x)>
#filter = affine_map<(n, o, h, w, c, y, x) -> (o, c, y, x)>
#image = affine_map<(n, o, h, w, c, y, x) -> (n, o, h, w)>
#id = affine_map<(n, o, h, w) -> (n, o, h, w)>
#from = affine_map<(n, w, p, c) -> (n, c, (w floordiv 2) * 4 + p floordiv 4, (w mod 2) * 4 + p mod 4)>
#to = affine_map<(n, w, p, c) -> (n, w, p, c)>

// The partition of an image into windows: dimension 1 of its result has the windows, not the channels, so it is not
// blocked although the image is.
// CHECK-LABEL: func @windows
// CHECK: gantry.dispatch(%arg0) dims() {layouts = [#gantry.layout<[]>, #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>]
// CHECK: gantry.dispatch(%{{[0-9]+}}) dims() {layouts = [#gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>, #gantry.layout<[]>]
func.func @windows(%v: tensor<8x8x8xf32>, %f: tensor<8x8x3x3xf32>) -> (tensor<1x4x16x8xf32>, tensor<1x8x6x6xf32>) {
  %x = gantry.dispatch (%v) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<8x8x8xf32>) -> tensor<1x8x8x8xf32> do {
  ^bb0(%p: tensor<8x8x8xf32>):
    %e = tensor.empty() : tensor<1x8x8x8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(n, o, h, w) -> (o, h, w)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<8x8x8xf32>) outs(%e : tensor<1x8x8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<1x8x8x8xf32>
    gantry.yield %0 : tensor<1x8x8x8xf32>
  }
  %parts = gantry.dispatch (%x) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x8x8xf32>) -> tensor<1x4x16x8xf32> do {
  ^bb0(%p: tensor<1x8x8x8xf32>):
    %e = tensor.empty() : tensor<1x8x8x8xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<1x8x8x8xf32>) outs(%e : tensor<1x8x8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<1x8x8x8xf32>
    %et = tensor.empty() : tensor<1x4x16x8xf32>
    %1 = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0 : tensor<1x8x8x8xf32>) outs(%et : tensor<1x4x16x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<1x4x16x8xf32>
    gantry.yield %1 : tensor<1x4x16x8xf32>
  }
  %y = gantry.dispatch (%x, %f) dims () {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32> do {
  ^bb0(%p: tensor<1x8x8x8xf32>, %q: tensor<8x8x3x3xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x8x6x6xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
    %0 = linalg.generic {indexing_maps = [#window, #filter, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %q : tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>) outs(%i : tensor<1x8x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x8x6x6xf32>
    gantry.yield %0 : tensor<1x8x6x6xf32>
  }
  return %parts, %y : tensor<1x4x16x8xf32>, tensor<1x8x6x6xf32>
}

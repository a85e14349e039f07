// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(fold-reshapes,place-concats{blocks},form-dispatches))' | FileCheck %s

// Two heads are split from one tensor: the slices drop the dimension of extent 1 themselves, and their reader
// reads the tensor without a copy.
// CHECK-LABEL: func @heads
// CHECK-NOT: tensor.collapse_shape
// CHECK: gantry.dispatch(%arg0)
// CHECK: tensor.extract_slice {{.*}}[0, 0, 0] [1, 4, %{{.*}}] [1, 1, 1] : tensor<2x4x?xf32> to tensor<4x?xf32>
// CHECK: tensor.extract_slice {{.*}}[1, 0, 0] [1, 4, %{{.*}}] [1, 1, 1] : tensor<2x4x?xf32> to tensor<4x?xf32>
// CHECK-NOT: gantry.dispatch
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @heads(%x: tensor<2x4x?xf32>) -> tensor<4x?xf32> {
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %two : tensor<2x4x?xf32>
  %0 = tensor.extract_slice %x[0, 0, 0] [1, 4, %n] [1, 1, 1] : tensor<2x4x?xf32> to tensor<1x4x?xf32>
  %1 = tensor.extract_slice %x[1, 0, 0] [1, 4, %n] [1, 1, 1] : tensor<2x4x?xf32> to tensor<1x4x?xf32>
  %2 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<1x4x?xf32> into tensor<4x?xf32>
  %3 = tensor.collapse_shape %1 [[0, 1], [2]] : tensor<1x4x?xf32> into tensor<4x?xf32>
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<4x?xf32>, tensor<4x?xf32>) outs(%e : tensor<4x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<4x?xf32>
  return %4 : tensor<4x?xf32>
}

// -----

// A collapse that joins two dimensions of several elements stays.
// CHECK-LABEL: func @joined
// CHECK: tensor.collapse_shape
func.func @joined(%x: tensor<2x4x8xf32>) -> tensor<8x8xf32> {
  %0 = tensor.extract_slice %x[0, 0, 0] [2, 4, 8] [1, 1, 1] : tensor<2x4x8xf32> to tensor<2x4x8xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// A shuffle of channels is one dispatch, which reads the inputs of the concatenation before it.
// CHECK: affine_map<(d0, d1, d2) -> (d0, (d1 mod 2) * 4 + d1 floordiv 2, d2)>
// CHECK-LABEL: func @shuffle
// CHECK: %[[E:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: %[[S:.*]] = gantry.dispatch(%{{.*}}, %{{.*}}) {{.*}}copy_reason = "no strides describe the order of the elements"
// CHECK: tensor.concat dim(1)
// CHECK: gantry.dispatch(%[[S]])
// CHECK: arith.negf
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#swap = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @shuffle(%x: tensor<1x4x16xf32>) -> tensor<1x8x16xf32> {
  %e = tensor.empty() : tensor<1x4x16xf32>
  %f = tensor.empty() : tensor<1x4x2x16xf32>
  %g = tensor.empty() : tensor<1x8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<1x4x16xf32>) outs(%e : tensor<1x4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x4x16xf32>
  %1 = tensor.concat dim(1) %0, %x : (tensor<1x4x16xf32>, tensor<1x4x16xf32>) -> tensor<1x8x16xf32>
  %2 = tensor.expand_shape %1 [[0], [1, 2], [3]] output_shape [1, 2, 4, 16] : tensor<1x8x16xf32> into tensor<1x2x4x16xf32>
  %3 = linalg.generic {indexing_maps = [#swap, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x2x4x16xf32>) outs(%f : tensor<1x4x2x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<1x4x2x16xf32>
  %4 = tensor.collapse_shape %3 [[0], [1, 2], [3]] : tensor<1x4x2x16xf32> into tensor<1x8x16xf32>
  %5 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<1x8x16xf32>) outs(%g : tensor<1x8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x8x16xf32>
  return %5 : tensor<1x8x16xf32>
}

// -----

// One tensor holds the queries, keys and values of four heads, and the function reads the keys. The tensor is
// divided into 12 heads of two elements, of which the reader takes four.
// CHECK-LABEL: func @keys
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1], [2, 3]] {{.*}} : tensor<5x1x24xf32> into
// CHECK: gantry.dispatch
// CHECK: tensor.extract_slice {{.*}}[0, 0, 4, 0] [5, 1, 4, 2] [1, 1, 1, 1] : tensor<5x1x12x2xf32> to tensor<5x4x2xf32>
// CHECK-NOT: gantry.dispatch
// CHECK: return
#in = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @keys(%x: tensor<5x1x24xf32>) -> tensor<4x5x2xf32> {
  %0 = tensor.extract_slice %x[0, 0, 8] [5, 1, 8] [1, 1, 1] : tensor<5x1x24xf32> to tensor<5x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [5, 4, 2] : tensor<5x8xf32> into tensor<5x4x2xf32>
  %e = tensor.empty() : tensor<4x5x2xf32>
  %2 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<5x4x2xf32>) outs(%e : tensor<4x5x2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<4x5x2xf32>
  return %2 : tensor<4x5x2xf32>
}

// -----

// A slice that begins inside of a head cannot be taken from whole heads, and is copied.
// CHECK-LABEL: func @between
// CHECK: gantry.dispatch
// CHECK: tensor.extract_slice {{.*}}[0, 3] [5, 8] [1, 1]
// CHECK: tensor.expand_shape {{.*}} : tensor<5x8xf32> into tensor<5x4x2xf32>
#id3b = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @between(%x: tensor<5x24xf32>) -> tensor<5x4x2xf32> {
  %0 = tensor.extract_slice %x[0, 3] [5, 8] [1, 1] : tensor<5x24xf32> to tensor<5x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [5, 4, 2] : tensor<5x8xf32> into tensor<5x4x2xf32>
  %e = tensor.empty() : tensor<5x4x2xf32>
  %2 = linalg.generic {indexing_maps = [#id3b, #id3b], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<5x4x2xf32>) outs(%e : tensor<5x4x2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<5x4x2xf32>
  return %2 : tensor<5x4x2xf32>
}

// -----

// Reshapes of single elements stay as they are.
// CHECK-LABEL: func @single
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape
#id2c = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
func.func @single(%x: tensor<1xf32>, %s: tensor<4xf32>) -> (tensor<f32>, tensor<1x1xf32>) {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
  %e = tensor.empty() : tensor<1x1xf32>
  %1 = linalg.generic {indexing_maps = [#swap, #id2c], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<1x1xf32>) outs(%e : tensor<1x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<1x1xf32>
  %2 = tensor.collapse_shape %1 [] : tensor<1x1xf32> into tensor<f32>
  %3 = tensor.extract_slice %s[2] [1] [1] : tensor<4xf32> to tensor<f32>
  %4 = tensor.expand_shape %3 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  return %2, %4 : tensor<f32>, tensor<1x1xf32>
}

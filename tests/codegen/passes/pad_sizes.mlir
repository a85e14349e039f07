// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pad-sizes{blocks}))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pad-sizes))' | FileCheck %s --check-prefix=GPU

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// Kernels read the odd rows and compute the odd number of steps, so nothing is padded. On a GPU, the dispatches of padded
// copies would take longer than this matmul.
// CHECK-LABEL: func @matmul
// CHECK-NOT: tensor.pad
// GPU-LABEL: func @matmul
// GPU-NOT: gantry.stored
// GPU: return
func.func @matmul(%x: tensor<127x255xf32>, %w: tensor<255x253xf32>) -> tensor<127x253xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<127x253xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<127x253xf32>) -> tensor<127x253xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<127x255xf32>, tensor<255x253xf32>) outs(%f : tensor<127x253xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<127x253xf32>
  return %m : tensor<127x253xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// With few rows, reading the odd rows of the right operand costs less than a copy of it; with many rows, more.
// CHECK-LABEL: func @few_rows
// CHECK-NOT: tensor.pad
// CHECK: return
func.func @few_rows(%x: tensor<128x256xf32>, %w: tensor<256x253xf32>) -> tensor<128x253xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x253xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x253xf32>) -> tensor<128x253xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x256xf32>, tensor<256x253xf32>) outs(%f : tensor<128x253xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<128x253xf32>
  return %m : tensor<128x253xf32>
}

// CHECK-LABEL: func @many_rows
// CHECK: tensor.pad %arg1 low[0, 0] high[0, 3]
// CHECK: return
func.func @many_rows(%x: tensor<512x256xf32>, %w: tensor<256x253xf32>) -> tensor<512x253xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x253xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x253xf32>) -> tensor<512x253xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<512x256xf32>, tensor<256x253xf32>) outs(%f : tensor<512x253xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<512x253xf32>
  return %m : tensor<512x253xf32>
}

// The depth and the columns grow, from 255 and 253 to 256. The inputs are copied into padded tensors, and the result is
// sliced. Nothing reads the rows of the left operand in vectors, so their number stays.
// CHECK-LABEL: func @bytes_of_odd_rows
// CHECK: tensor.pad %arg0 low[0, 0] high[0, 1]
// CHECK: gantry.stored, gantry.why = "its sizes are rounded up
// CHECK: tensor.pad %arg1 low[0, 0] high[1, 3]
// CHECK: gantry.stored, gantry.why = "its sizes are rounded up
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<127x256xi8>, tensor<256x256xi8>) outs(%{{.*}} : tensor<127x256xi32>)
// CHECK: %[[Y:.*]] = tensor.extract_slice %[[M]][0, 0] [127, 253] [1, 1]
// CHECK: return %[[Y]]
func.func @bytes_of_odd_rows(%x: tensor<127x255xi8>, %w: tensor<255x253xi8>) -> tensor<127x253xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<127x253xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<127x253xi32>) -> tensor<127x253xi32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<127x255xi8>, tensor<255x253xi8>) outs(%f : tensor<127x253xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<127x253xi32>
  return %m : tensor<127x253xi32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// The second matmul reads the padding, so it must be zero. The first matmul could compute a NaN in it, from an infinity
// times zero, and the exponential computes one. A select replaces both.
// CHECK-LABEL: func @zeros
// CHECK: tensor<1024x256xf32>, tensor<256x256xf32>
// CHECK: linalg.index 1
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: math.exp
// CHECK: linalg.index 1
// CHECK: arith.select
// CHECK: tensor<1024x256xf32>, tensor<256x512xf32>
// CHECK-NOT: tensor.extract_slice
// CHECK: return
func.func @zeros(%x: tensor<1024x256xf32>, %v: tensor<256x253xf32>, %w: tensor<253x512xf32>) -> tensor<1024x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x253xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x253xf32>) -> tensor<1024x253xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<1024x256xf32>, tensor<256x253xf32>) outs(%f : tensor<1024x253xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1024x253xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<1024x253xf32>) outs(%e : tensor<1024x253xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<1024x253xf32>
  %d = tensor.empty() : tensor<1024x512xf32>
  %h = linalg.fill ins(%z : f32) outs(%d : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %n = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<1024x253xf32>, tensor<253x512xf32>) outs(%h : tensor<1024x512xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1024x512xf32>
  return %n : tensor<1024x512xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// A small matmul costs less than padded copies of its operands.
// CHECK-LABEL: func @small
// CHECK-NOT: gantry.stored
// CHECK: return
func.func @small(%x: tensor<8x31xf32>, %w: tensor<31x9xf32>) -> tensor<8x9xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x9xf32>) -> tensor<8x9xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x31xf32>, tensor<31x9xf32>) outs(%f : tensor<8x9xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x9xf32>
  return %m : tensor<8x9xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A maximum over the columns would see the zeros of the padding, so the columns stay.
// CHECK-LABEL: func @maximum
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<1024x256xf32>, tensor<256x253xf32>)
// CHECK: ins(%{{.*}} : tensor<1024x253xf32>)
// CHECK: return
func.func @maximum(%x: tensor<1024x256xf32>, %v: tensor<256x253xf32>) -> tensor<1024xf32> {
  %z = arith.constant 0.0 : f32
  %l = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1024x253xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x253xf32>) -> tensor<1024x253xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<1024x256xf32>, tensor<256x253xf32>) outs(%f : tensor<1024x253xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1024x253xf32>
  %d = tensor.empty() : tensor<1024xf32>
  %h = linalg.fill ins(%l : f32) outs(%d : tensor<1024xf32>) -> tensor<1024xf32>
  %n = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m : tensor<1024x253xf32>) outs(%h : tensor<1024xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %0 = arith.maximumf %acc, %p : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  return %n : tensor<1024xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A sum of squared differences from a mean is not zero in the padding, so the columns stay.
// CHECK-LABEL: func @differences
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<1024x256xf32>, tensor<256x253xf32>)
// CHECK: ins(%{{.*}}, %arg2 : tensor<1024x253xf32>, tensor<1024xf32>)
// CHECK: return
func.func @differences(%x: tensor<1024x256xf32>, %v: tensor<256x253xf32>, %mean: tensor<1024xf32>) -> tensor<1024xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x253xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x253xf32>) -> tensor<1024x253xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<1024x256xf32>, tensor<256x253xf32>) outs(%f : tensor<1024x253xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1024x253xf32>
  %d = tensor.empty() : tensor<1024xf32>
  %h = linalg.fill ins(%z : f32) outs(%d : tensor<1024xf32>) -> tensor<1024xf32>
  %n = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m, %mean : tensor<1024x253xf32>, tensor<1024xf32>) outs(%h : tensor<1024xf32>) {
  ^bb0(%p: f32, %u: f32, %acc: f32):
    %0 = arith.subf %p, %u : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %acc, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1024xf32>
  return %n : tensor<1024xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// Products of bytes: the padding of the constant is zero, so the padding of the first matmul's result may have any value
// for the second one. No select replaces it.
// CHECK-LABEL: func @bytes
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<512x256xi8>, tensor<256x256xi8>) outs(%{{.*}} : tensor<512x256xi32>)
// CHECK-NOT: arith.select
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<512x256xi8>, tensor<256x512xi8>) outs(%{{.*}} : tensor<512x512xi32>)
// CHECK-NOT: tensor.extract_slice
// CHECK: return
func.func @bytes(%x: tensor<512x256xi8>) -> tensor<512x512xi32> {
  %v = arith.constant dense_resource<v> : tensor<256x253xi8>
  %w = arith.constant dense_resource<w> : tensor<253x512xi8>
  %z = arith.constant 0 : i32
  %zero = arith.constant 3 : i32
  %e = tensor.empty() : tensor<512x253xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<512x253xi32>) -> tensor<512x253xi32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<512x256xi8>, tensor<256x253xi8>) outs(%f : tensor<512x253xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<512x253xi32>
  %eb = tensor.empty() : tensor<512x253xi8>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<512x253xi32>) outs(%eb : tensor<512x253xi8>) {
  ^bb0(%p: i32, %o: i8):
    %0 = arith.trunci %p : i32 to i8
    linalg.yield %0 : i8
  } -> tensor<512x253xi8>
  %e2 = tensor.empty() : tensor<512x512xi32>
  %f2 = linalg.fill ins(%z : i32) outs(%e2 : tensor<512x512xi32>) -> tensor<512x512xi32>
  %m2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %w : tensor<512x253xi8>, tensor<253x512xi8>) outs(%f2 : tensor<512x512xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %0 = arith.extsi %p : i8 to i32
    %d = arith.subi %0, %zero : i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %d, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<512x512xi32>
  return %m2 : tensor<512x512xi32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// Zeros in the padding of both factors would be summed, because the zero points are not zero: 253 stays.
// CHECK-LABEL: func @zero_points
// CHECK: tensor<512x253xi8>, tensor<253x256xi8>
func.func @zero_points(%x: tensor<512x253xi8>) -> tensor<512x256xi32> {
  %w = arith.constant dense_resource<w> : tensor<253x256xi8>
  %z = arith.constant 0 : i32
  %zero = arith.constant 3 : i32
  %e = tensor.empty() : tensor<512x256xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<512x256xi32>) -> tensor<512x256xi32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<512x253xi8>, tensor<253x256xi8>) outs(%f : tensor<512x256xi32>) {
  ^bb0(%p: i8, %q: i8, %acc: i32):
    %0 = arith.extsi %p : i8 to i32
    %d = arith.subi %0, %zero : i32
    %1 = arith.extsi %q : i8 to i32
    %g = arith.subi %1, %zero : i32
    %2 = arith.muli %d, %g : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<512x256xi32>
  return %m : tensor<512x256xi32>
}

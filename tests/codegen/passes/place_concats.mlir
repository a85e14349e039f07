// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-concats,form-dispatches))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-concats,form-dispatches,assign-storage{alignment=256}))' | FileCheck %s --check-prefix=PLACE
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-concats{blocks},form-dispatches))' | FileCheck %s --check-prefix=BLOCKS

// The operators write their results into the storage of the concatenation.
// CHECK-LABEL: func @in_place
// CHECK: %[[A:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: %[[B:.*]] = gantry.dispatch(%arg0)
// CHECK: math.absf
// CHECK: %[[C:.*]] = gantry.concat %[[A]], %[[B]] along 1 {gantry.tensor = "joined"}
// CHECK: gantry.dispatch(%[[C]])
// CHECK-NOT: tensor.concat
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @in_place(%x: tensor<1x4x16xf32>) -> tensor<1x8x16xf32> {
  %e = tensor.empty() : tensor<1x4x16xf32>
  %f = tensor.empty() : tensor<1x8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<1x4x16xf32>) outs(%e : tensor<1x4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x4x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<1x4x16xf32>) outs(%e : tensor<1x4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x4x16xf32>
  %2 = tensor.concat dim(1) %0, %1 {gantry.tensor = "joined"} : (tensor<1x4x16xf32>, tensor<1x4x16xf32>) -> tensor<1x8x16xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<1x8x16xf32>) outs(%f : tensor<1x8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x8x16xf32>
  return %3 : tensor<1x8x16xf32>
}

// -----

// The inputs of the first concatenation are the first inputs of the second: both are views of one storage.
// An input of the function is copied into this storage.
// CHECK-LABEL: func @prefix
// CHECK: %[[A:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: %[[B:.*]] = gantry.dispatch(%arg0)
// CHECK: math.absf
// CHECK: %[[C:.*]] = gantry.concat %[[A]], %[[B]] along 0
// CHECK: %[[D:.*]] = gantry.dispatch(%[[C]])
// CHECK: arith.negf
// CHECK: %[[X:.*]] = gantry.dispatch(%arg0) {{.*}}copy_reason = "the tensor is an input of the program"
// CHECK: linalg.yield %in
// CHECK: gantry.concat %[[A]], %[[B]], %[[D]], %[[X]] along 0
#id1 = affine_map<(d0) -> (d0)>
func.func @prefix(%x: tensor<64xf32>) -> tensor<320xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %f = tensor.empty() : tensor<128xf32>
  %g = tensor.empty() : tensor<320xf32>
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %3 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%2 : tensor<128xf32>) outs(%f : tensor<128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<128xf32>
  %4 = tensor.concat dim(0) %0, %1, %3, %x : (tensor<64xf32>, tensor<64xf32>, tensor<128xf32>, tensor<64xf32>) -> tensor<320xf32>
  %5 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%4 : tensor<320xf32>) outs(%g : tensor<320xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<320xf32>
  return %5 : tensor<320xf32>
}

// -----

// The program returns the first concatenation, so its inputs are written into the output. The second
// concatenation is not in place, because most of its elements would have to be copied.
// CHECK-LABEL: func @separate
// CHECK: %[[A:.*]] = gantry.dispatch
// CHECK: %[[B:.*]] = gantry.dispatch
// CHECK: %[[C:.*]] = gantry.concat %[[A]], %[[B]] along 0
// CHECK: copy_reason = "no operator computes most of its inputs"
// CHECK-NOT: gantry.concat
// CHECK: return %[[C]],
#id1 = affine_map<(d0) -> (d0)>
func.func @separate(%x: tensor<64xf32>) -> (tensor<128xf32>, tensor<192xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %f = tensor.empty() : tensor<192xf32>
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %3 = tensor.concat dim(0) %x, %x, %1 : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<192xf32>
  %4 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%3 : tensor<192xf32>) outs(%f : tensor<192xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<192xf32>
  return %2, %4 : tensor<128xf32>, tensor<192xf32>
}

// -----

// With `blocks`, tensors that operators read as images (codegen/passes/image_reads.h) are stored in blocks of four
// channels. The second input would begin within a block. A sum over all pixels is as fast without blocks, so the
// concatenation is a view.
// CHECK-LABEL: func @divides_a_block
// CHECK: gantry.concat
// BLOCKS-LABEL: func @divides_a_block
// BLOCKS: gantry.concat
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @divides_a_block(%x: tensor<1x6x8x8xf32>) -> tensor<1x12xf32> {
  %e = tensor.empty() : tensor<1x6x8x8xf32>
  %zero = arith.constant 0.0 : f32
  %g = tensor.empty() : tensor<1x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%g : tensor<1x12xf32>) -> tensor<1x12xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x8x8xf32>) outs(%e : tensor<1x6x8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x6x8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x8x8xf32>) outs(%e : tensor<1x6x8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x6x8x8xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<1x6x8x8xf32>, tensor<1x6x8x8xf32>) -> tensor<1x12x8x8xf32>
  %3 = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%2 : tensor<1x12x8x8xf32>) outs(%f : tensor<1x12xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.addf %p, %o : f32
    linalg.yield %v : f32
  } -> tensor<1x12xf32>
  return %3 : tensor<1x12xf32>
}

// -----

// No operator reads the tensors as images (only reductions do), so blocks do not matter.
// BLOCKS-LABEL: func @no_image
// BLOCKS: gantry.concat
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @no_image(%x: tensor<1x6x8x8xf32>) -> tensor<1x12x8x8xf32> {
  %e = tensor.empty() : tensor<1x6x8x8xf32>
  %f = tensor.empty() : tensor<1x12x8x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x8x8xf32>) outs(%e : tensor<1x6x8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x6x8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x8x8xf32>) outs(%e : tensor<1x6x8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x6x8x8xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<1x6x8x8xf32>, tensor<1x6x8x8xf32>) -> tensor<1x12x8x8xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x12x8x8xf32>) outs(%f : tensor<1x12x8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x12x8x8xf32>
  return %3 : tensor<1x12x8x8xf32>
}

// -----

// The inputs are boxes in the rows of the result. The second begins 512 bytes after the start of the storage,
// which is a multiple of the alignment. The third begins after 528 bytes: its buffer begins after 512 bytes, and
// the kernel adds the other four elements (start = 4). These places do not depend on the number of rows, which is
// dynamic.
// CHECK-LABEL: func @rows
// CHECK: gantry.concat %{{.*}}, %{{.*}}, %{{.*}} along 1
// BLOCKS-LABEL: func @rows
// PLACE-LABEL: func @rows
// PLACE: gantry.dispatch(%arg0) {{.*}}#gantry.layout<[], within = [-1, 136]>
// PLACE: math.exp
// PLACE: gantry.dispatch(%arg1) {{.*}}#gantry.layout<[], within = [-1, 136]>
// PLACE: math.absf
// PLACE: gantry.dispatch(%arg1) {{.*}}#gantry.layout<[], within = [-1, 136], start = 4>
// PLACE: math.floor
// PLACE: gantry.concat
#id2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @rows(%x: tensor<?x128xf32>, %y: tensor<?x4xf32>) -> tensor<?x136xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x128xf32>
  %e = tensor.empty(%n) : tensor<?x128xf32>
  %f = tensor.empty(%n) : tensor<?x4xf32>
  %g = tensor.empty(%n) : tensor<?x136xf32>
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x128xf32>) outs(%e : tensor<?x128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<?x128xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  %2 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.floor %p : f32
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  %3 = tensor.concat dim(1) %0, %1, %2 : (tensor<?x128xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x136xf32>
  %4 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<?x136xf32>) outs(%g : tensor<?x136xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<?x136xf32>
  return %4 : tensor<?x136xf32>
}

// -----

// A reshape of an input needs its elements in one range, so the first concatenation is copied. The rows of the second
// concatenation's inputs would not begin at multiples of four elements. With `blocks` it is a view only if the operators
// that access the inputs lose less than a copy costs.
// CHECK-LABEL: func @reshaped
// CHECK: copy_reason = "a reshape of an input needs its elements in one range"
// BLOCKS-LABEL: func @reshaped
// CHECK-LABEL: func @odd_rows
// CHECK: gantry.concat
// BLOCKS-LABEL: func @odd_rows
// BLOCKS: gantry.concat
// CHECK-LABEL: func @odd_rows_read_often
// CHECK: gantry.concat
// BLOCKS-LABEL: func @odd_rows_read_often
// BLOCKS: copy_reason = "the rows of an input would not begin at multiples of four elements"
#id2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @reshaped(%x: tensor<2x64xf32>) -> (tensor<2x128xf32>, tensor<128xf32>) {
  %e = tensor.empty() : tensor<2x64xf32>
  %g = tensor.empty() : tensor<2x128xf32>
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x64xf32>) outs(%e : tensor<2x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<2x64xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x64xf32>) outs(%e : tensor<2x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<2x64xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x128xf32>
  %3 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x128xf32>) outs(%g : tensor<2x128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<2x128xf32>
  %4 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x64xf32> into tensor<128xf32>
  return %3, %4 : tensor<2x128xf32>, tensor<128xf32>
}

func.func @odd_rows(%x: tensor<4x5xf32>) -> tensor<4x10xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %g = tensor.empty() : tensor<4x10xf32>
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<4x5xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<4x5xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x10xf32>
  %3 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x10xf32>) outs(%g : tensor<4x10xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<4x10xf32>
  return %3 : tensor<4x10xf32>
}

func.func @odd_rows_read_often(%x: tensor<4096x6xf32>) -> (tensor<4096x12xf32>, tensor<4096x6xf32>, tensor<4096x6xf32>, tensor<4096x6xf32>, tensor<4096x6xf32>) {
  %e = tensor.empty() : tensor<4096x6xf32>
  %g = tensor.empty() : tensor<4096x12xf32>
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x6xf32>) outs(%e : tensor<4096x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<4096x6xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x6xf32>) outs(%e : tensor<4096x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<4096x6xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<4096x6xf32>, tensor<4096x6xf32>) -> tensor<4096x12xf32>
  %3 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4096x12xf32>) outs(%g : tensor<4096x12xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<4096x12xf32>
  %4 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4096x6xf32>) outs(%e : tensor<4096x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.ceil %p : f32
    linalg.yield %v : f32
  } -> tensor<4096x6xf32>
  %5 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4096x6xf32>) outs(%e : tensor<4096x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.floor %p : f32
    linalg.yield %v : f32
  } -> tensor<4096x6xf32>
  %6 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4096x6xf32>) outs(%e : tensor<4096x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.floor %p : f32
    linalg.yield %v : f32
  } -> tensor<4096x6xf32>
  %7 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4096x6xf32>) outs(%e : tensor<4096x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.ceil %p : f32
    linalg.yield %v : f32
  } -> tensor<4096x6xf32>
  return %3, %4, %5, %6, %7 : tensor<4096x12xf32>, tensor<4096x6xf32>, tensor<4096x6xf32>, tensor<4096x6xf32>, tensor<4096x6xf32>
}

// -----

// Operators read windows of the first concatenation's result and of an input of the second one. Their rows have an odd
// number of elements, so the operators are much slower without blocks of four channels. The second input of the first
// concatenation would begin within a block, and the program returns the second one, so both are copied.
// BLOCKS-LABEL: func @windows
// BLOCKS: copy_reason = "operators read the tensors as images, which could not be stored in blocks of four channels"
// BLOCKS-LABEL: func @windows_and_output
// BLOCKS: copy_reason = "operators read the tensors as images, and an output is not stored in blocks of four channels"
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#window = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4, d3 + d5)>
#size = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#pixel = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
func.func @windows(%x: tensor<1x6x53x53xf32>) -> tensor<1x12x51x51xf32> {
  %e = tensor.empty() : tensor<1x6x53x53xf32>
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %i = tensor.empty() : tensor<1x12x51x51xf32>
  %f = linalg.fill ins(%zero : f32) outs(%i : tensor<1x12x51x51xf32>) -> tensor<1x12x51x51xf32>
  %0 = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x53x53xf32>) outs(%e : tensor<1x6x53x53xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x6x53x53xf32>
  %1 = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x53x53xf32>) outs(%e : tensor<1x6x53x53xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x6x53x53xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<1x6x53x53xf32>, tensor<1x6x53x53xf32>) -> tensor<1x12x53x53xf32>
  %3 = linalg.generic {indexing_maps = [#window, #size, #pixel], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%2, %w : tensor<1x12x53x53xf32>, tensor<3x3xf32>) outs(%f : tensor<1x12x51x51xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %o : f32
    linalg.yield %v : f32
  } -> tensor<1x12x51x51xf32>
  return %3 : tensor<1x12x51x51xf32>
}

func.func @windows_and_output(%x: tensor<1x8x53x53xf32>) -> (tensor<1x16x53x53xf32>, tensor<1x8x51x51xf32>) {
  %e = tensor.empty() : tensor<1x8x53x53xf32>
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %i = tensor.empty() : tensor<1x8x51x51xf32>
  %f = linalg.fill ins(%zero : f32) outs(%i : tensor<1x8x51x51xf32>) -> tensor<1x8x51x51xf32>
  %0 = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x53x53xf32>) outs(%e : tensor<1x8x53x53xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<1x8x53x53xf32>
  %1 = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x53x53xf32>) outs(%e : tensor<1x8x53x53xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<1x8x53x53xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<1x8x53x53xf32>, tensor<1x8x53x53xf32>) -> tensor<1x16x53x53xf32>
  %3 = linalg.generic {indexing_maps = [#window, #size, #pixel], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0, %w : tensor<1x8x53x53xf32>, tensor<3x3xf32>) outs(%f : tensor<1x8x51x51xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.addf %p, %o : f32
    linalg.yield %v : f32
  } -> tensor<1x8x51x51xf32>
  return %2, %3 : tensor<1x16x53x53xf32>, tensor<1x8x51x51xf32>
}

// -----

// Two tensors are interleaved, and the result is an input of a concatenation: both are written into its result, the
// second from column 1 on. The last tensor is interleaved with itself. It cannot lie at two places, so it is copied to
// the second one.
// CHECK-LABEL: func @interleaved
// CHECK: gantry.concat %{{.*}}, %{{.*}} along 1 interleaved
// CHECK: gantry.concat %{{.*}}, %{{.*}} along 0
// PLACE-LABEL: func @interleaved
// PLACE: gantry.dispatch(%arg0) {{.*}}#gantry.layout<[], within = [24, 32], steps = [1, 2]>
// PLACE: math.exp
// PLACE: gantry.dispatch(%arg0) {{.*}}#gantry.layout<[], within = [24, 32], start = 1, steps = [1, 2]>
// PLACE: math.absf
// PLACE: gantry.dispatch({{.*}}copy_reason = "the tensor is interleaved several times", layouts = [#gantry.layout<[], within = [8, 32], steps = [1, 2]>, #gantry.layout<[], within = [8, 32], start = 1, steps = [1, 2]>]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @interleaved(%x: tensor<16x16xf32>, %y: tensor<8x32xf32>, %z: tensor<8x16xf32>) -> (tensor<24x32xf32>, tensor<8x32xf32>) {
  %e = tensor.empty() : tensor<16x16xf32>
  %f = tensor.empty() : tensor<8x32xf32>
  %g = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.absf %p : f32
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  %2 = gantry.concat %0, %1 along 1 interleaved : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x32xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x32xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.floor %p : f32
    linalg.yield %v : f32
  } -> tensor<8x32xf32>
  %4 = tensor.concat dim(0) %2, %3 : (tensor<16x32xf32>, tensor<8x32xf32>) -> tensor<24x32xf32>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<8x16xf32>) outs(%g : tensor<8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.ceil %p : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %6 = gantry.concat %5, %5 along 1 interleaved : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  return %4, %6 : tensor<24x32xf32>, tensor<8x32xf32>
}

// -----

// A reshape of an operator's result is interleaved with an input of the function. No operator can write them into the
// result, so both are copied.
// CHECK-LABEL: func @interleaved_views
// CHECK: gantry.concat %{{.*}}, %{{.*}} along 1 interleaved
// PLACE-LABEL: func @interleaved_views
// PLACE: math.exp
// PLACE: gantry.dispatch({{.*}}copy_reason = "no operator computes the tensor", layouts = [#gantry.layout<[]>, #gantry.layout<[], within = [16, 32], steps = [1, 2]>]
// PLACE: gantry.dispatch({{.*}}copy_reason = "no operator computes the tensor", layouts = [#gantry.layout<[]>, #gantry.layout<[], within = [16, 32], start = 1, steps = [1, 2]>]
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @interleaved_views(%x: tensor<4x4x16xf32>, %y: tensor<16x16xf32>) -> tensor<16x32xf32> {
  %e = tensor.empty() : tensor<4x4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x4x16xf32>) outs(%e : tensor<4x4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<4x4x16xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<4x4x16xf32> into tensor<16x16xf32>
  %2 = gantry.concat %1, %y along 1 interleaved : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}

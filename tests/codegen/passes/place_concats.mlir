// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-concats{alignment=256},form-dispatches))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-concats{alignment=512},form-dispatches))' | FileCheck %s --check-prefix=WIDE
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(place-concats{alignment=256 blocks},form-dispatches))' | FileCheck %s --check-prefix=BLOCKS

// The operators write into the concatenation. With a wider alignment, it stays a dispatch.
// CHECK-LABEL: func @in_place
// CHECK: %[[A:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: %[[B:.*]] = gantry.dispatch(%arg0)
// CHECK: math.absf
// CHECK: %[[C:.*]] = gantry.concat %[[A]], %[[B]] along 1 {gantry.tensor = "joined"}
// CHECK: gantry.dispatch(%[[C]])
// CHECK-NOT: tensor.concat
// WIDE-LABEL: func @in_place
// WIDE-NOT: gantry.concat
// WIDE: tensor.concat
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
// An input of the function is copied into it.
// CHECK-LABEL: func @prefix
// CHECK: %[[A:.*]] = gantry.dispatch(%arg0)
// CHECK: math.exp
// CHECK: %[[B:.*]] = gantry.dispatch(%arg0)
// CHECK: math.absf
// CHECK: %[[C:.*]] = gantry.concat %[[A]], %[[B]] along 0
// CHECK: %[[D:.*]] = gantry.dispatch(%[[C]])
// CHECK: arith.negf
// CHECK: %[[X:.*]] = gantry.dispatch(%arg0)
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

// Not in place: the result is returned; most bytes would have to be copied; a leading extent divides the
// inputs into several ranges.
// CHECK-LABEL: func @separate
// CHECK-NOT: gantry.concat
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @separate(%x: tensor<64xf32>, %y: tensor<2x64xf32>) -> (tensor<128xf32>, tensor<192xf32>, tensor<2x128xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %e2 = tensor.empty() : tensor<2x64xf32>
  %f = tensor.empty() : tensor<192xf32>
  %f2 = tensor.empty() : tensor<2x128xf32>
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
  %5 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x64xf32>) outs(%e2 : tensor<2x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<2x64xf32>
  %6 = tensor.concat dim(1) %5, %5 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x128xf32>
  %7 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<2x128xf32>) outs(%f2 : tensor<2x128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<2x128xf32>
  return %2, %4, %7 : tensor<128xf32>, tensor<192xf32>, tensor<2x128xf32>
}

// -----

// Two inputs of six channels: in blocks of four channels, the second would begin within a block.
// CHECK-LABEL: func @divides_a_block
// CHECK: gantry.concat
// BLOCKS-LABEL: func @divides_a_block
// BLOCKS-NOT: gantry.concat
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @divides_a_block(%x: tensor<1x6x8x8xf32>) -> tensor<1x12x8x8xf32> {
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

// RUN: gantry-opt %s | gantry-opt | FileCheck %s

// The parser accepts the printed form of every attribute of the dialect.

// CHECK: func.func @program(
// CHECK-SAME: gantry.port = #gantry.port<name = "tok\22ens", dims = [<"time", min = 8, max = 64>, <"">], is_unsigned = true, donated = true>
// CHECK-SAME: -> (tensor<?x4xi8> {gantry.port = #gantry.port<name = "out">})
// CHECK-SAME: gantry.budget = #gantry.budget<bytes = 1000, peak_before = 2000, recomputed = 1, recomputed_peak = 1500, moved = 2>
// CHECK-SAME: gantry.failure = #gantry.failure<unsupported>
// CHECK-SAME: gantry.order = #gantry.order<model_peak_bytes = 10, model_stages = 3, stages = 4>
// CHECK-SAME: gantry.requirements = #gantry.requirements<symbols = ["time"], non_negative = [()[s0] -> (s0 - 3)]>
// CHECK-SAME: gantry.strips = #gantry.strips<chains = [<first = "Conv_0", last = "", count = 4, saved_bytes = -8, operations = 9>], model_operations = 100>
func.func @program(%x: tensor<?x4xi8> {gantry.port = #gantry.port<name = "tok\22ens", dims = [<"time", min = 8, max = 64>, <"">], is_unsigned = true, donated = true>})
    -> (tensor<?x4xi8> {gantry.port = #gantry.port<name = "out">})
    attributes {
      gantry.budget = #gantry.budget<bytes = 1000, peak_before = 2000, recomputed = 1, recomputed_peak = 1500, moved = 2>,
      gantry.failure = #gantry.failure<unsupported>,
      gantry.order = #gantry.order<model_peak_bytes = 10, model_stages = 3, stages = 4>,
      gantry.requirements = #gantry.requirements<symbols = ["time"], non_negative = [()[t] -> (t - 3)]>,
      gantry.strips = #gantry.strips<chains = [<first = "Conv_0", last = "", count = 4, saved_bytes = -8, operations = 9>], model_operations = 100>} {
  return %x : tensor<?x4xi8>
}

// CHECK: func.func @states(
// CHECK-SAME: gantry.state = #gantry.state<result = 1, initial = dense<5.000000e-01> : tensor<4xf32>>
// CHECK-SAME: gantry.state = #gantry.state}
// CHECK-SAME: gantry.state = #gantry.state<order = [1, 0]>}
func.func @states(%w: tensor<4xf32> {gantry.state = #gantry.state<result = 1, initial = dense<0.5> : tensor<4xf32>>},
                  %v: tensor<4xf32> {gantry.state = #gantry.state},
                  %u: tensor<4x5xf32> {gantry.state = #gantry.state<order = [1, 0]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %v, %w : tensor<4xf32>, tensor<4xf32>
}

// CHECK: gantry.dispatch @k(%{{.*}}) dims() {layouts = [#gantry.layout<[0, 8, 1, 4, 0, 1, 1, 1]>, #gantry.layout<[]>], operand_dims = array<i64>, result_dims = array<i64>, rows}
func.func @dispatch(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, rows,
      layouts = [#gantry.layout<[0, 8, 1, 4, 0, 1, 1, 1]>, #gantry.layout<[]>]} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK: module @unmarked attributes {gantry.kernel = #gantry.kernel}
module @unmarked attributes {gantry.kernel = #gantry.kernel} {}

// CHECK: module @kernel attributes {gantry.kernel = #gantry.kernel<key = "0123456789abcdef", measured = <kind = baseline, tile = "points=4 steps=-", origin = "here", requested = true>>}
module @kernel attributes {gantry.kernel = #gantry.kernel<key = "0123456789abcdef",
    measured = <kind = baseline, tile = "points=4 steps=-", origin = "here", requested = true>>} {
  // CHECK: func.func @on_tensors
  // CHECK-SAME: gantry.signature = #gantry.signature<operand_dims = [0], result_dims = [0], layouts = [<[]>, <[0, 1]>], rows = true>
  func.func @on_tensors(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
      attributes {gantry.signature = #gantry.signature<operand_dims = [0], result_dims = [0], layouts = [<[]>, <[0, 1]>], rows = true>} {
    return %x : tensor<?xf32>
  }
  // CHECK: func.func @without_parameters() attributes {gantry.signature = #gantry.signature}
  func.func @without_parameters() attributes {gantry.signature = #gantry.signature} { return }

  // CHECK: func.func @on_buffers(
  // CHECK-SAME: gantry.binding = #gantry.binding<buffer[1] texels_of = f16>
  // CHECK-SAME: gantry.binding = #gantry.binding<dim[0]>
  // CHECK-SAME: gantry.binding = #gantry.binding<workgroup_x>
  // CHECK-SAME: gantry.binding = #gantry.binding<buffer[0] skipped = 3>
  // CHECK-SAME: gantry.launch = #gantry.launch<buffers = 2, dims = 1, workgroup_size = 64, tiles_per_workgroup = 64, subgroup_size = 8, shared_bytes = 1024, staged_bytes = 2048, matrix_feature = "cooperativeMatrix">
  // CHECK-SAME: gantry.loops = #gantry.loops<rounds = 12, dims = [0]>
  // CHECK-SAME: gantry.prediction = #gantry.prediction<cost = 900, accesses = 12, vector_accesses = 8>
  // CHECK-SAME: gantry.remarks = #gantry.remarks<["taken", "a \22costlier\22 tile"]>
  // CHECK-SAME: gantry.slices = #gantry.slices<workgroups = 4, bytes = [1024, 0]>
  // CHECK-SAME: gantry.tile = #gantry.tile<kind = matrices, grid = 1, extents = [4, 8], merged = 2, lanes = 8, cost = 7, dim_multiples = [4], text = "4x8", exact = "points=4x8 steps=-">
  func.func @on_buffers(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1] texels_of = f16>},
                        %n: index {gantry.binding = #gantry.binding<dim[0]>},
                        %group: index {gantry.binding = #gantry.binding<workgroup_x>},
                        %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0] skipped = 3>})
      attributes {
        gantry.launch = #gantry.launch<buffers = 2, dims = 1, workgroup_size = 64, tiles_per_workgroup = 64, subgroup_size = 8, shared_bytes = 1024, staged_bytes = 2048, matrix_feature = "cooperativeMatrix">,
        gantry.loops = #gantry.loops<rounds = 12, dims = [0]>,
        gantry.prediction = #gantry.prediction<cost = 900, accesses = 12, vector_accesses = 8>,
        gantry.remarks = #gantry.remarks<["taken", "a \22costlier\22 tile"]>,
        gantry.slices = #gantry.slices<workgroups = 4, bytes = [1024, 0]>,
        gantry.tile = #gantry.tile<kind = matrices, grid = 1, extents = [4, 8], merged = 2, lanes = 8, cost = 7, dim_multiples = [4], text = "4x8", exact = "points=4x8 steps=-">} {
    return
  }
}

// CHECK: spirv.module Logical GLSL450
// CHECK-SAME: gantry.buffers = #gantry.buffers<mode = texel, texel_views = [<buffer = 0, format = rgba16f, alone = true>, <buffer = 1, format = rgba32f>]>
spirv.module Logical GLSL450 attributes {
  gantry.buffers = #gantry.buffers<mode = texel, texel_views = [<buffer = 0, format = rgba16f, alone = true>, <buffer = 1, format = rgba32f>]>} {}

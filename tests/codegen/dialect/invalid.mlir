// RUN: gantry-opt %s --split-input-file --verify-diagnostics

// Tests the verifiers of the dialect's attributes (GantryAttributes.td and GantryDialect.td).

// expected-error@+1 {{attribute "gantry.tiel" is not declared by the Gantry dialect}}
func.func @unknown_name() attributes {gantry.tiel = 4} { return }

// -----

// expected-error@+1 {{attribute "gantry.tile" has the wrong type: "baseline"}}
func.func @wrong_type() attributes {gantry.tile = "baseline"} { return }

// -----

// expected-error@+1 {{attribute "gantry.kernel" does not belong to 'func.func'}}
func.func @wrong_operation() attributes {gantry.kernel = #gantry.kernel} { return }

// -----

func.func @wrong_truncation(%x: f32) -> f32 {
  // expected-error@+1 {{attribute "gantry.rounds" does not belong to 'arith.addf'}}
  %y = arith.addf %x, %x {gantry.rounds} : f32
  return %y : f32
}

// -----

// expected-error@+1 {{attribute "gantry.dim" of argument 0 is not declared by the Gantry dialect}}
func.func @unknown_argument_attribute(%n: index {gantry.dim = 0}) { return }

// -----

// expected-error@+1 {{attribute "gantry.port" of argument 0 has 1 dims for a tensor of rank 2}}
func.func @dims_of_port(%x: tensor<4x4xf32> {gantry.port = #gantry.port<name = "x", dims = [<"">]>}) { return }

// -----

// expected-error@+1 {{attribute "gantry.port" of result 0 must be a port that has no dims and is not donated}}
func.func @donated_result(%x: f32) -> (f32 {gantry.port = #gantry.port<name = "y", donated = true>}) { return %x : f32 }

// -----

// expected-error@+1 {{attribute "gantry.state" of argument 0 refers to result 1; it must be -1, or at least 0 and less than the number of results, 1}}
func.func @state_of_no_result(%x: tensor<4xf32> {gantry.state = #gantry.state<result = 1>}) -> tensor<4xf32> { return %x : tensor<4xf32> }

// -----

// expected-error@+1 {{attribute "gantry.state" of argument 0 has an order of 2 dimensions, but the argument is 'tensor<4xf32>'}}
func.func @state_of_another_rank(%x: tensor<4xf32> {gantry.state = #gantry.state<order = [1, 0]>}) { return }

// -----

// expected-error@+1 {{order of a state lacks dimension 1; it must have each of its 2 dimensions once}}
func.func @order_of_a_state(%x: tensor<4x4xf32> {gantry.state = #gantry.state<order = [0, 2]>}) { return }

// -----

// expected-error@+1 {{attribute "gantry.state" of argument 0 refers to result 0, which has another type}}
func.func @state_of_another_type(%x: tensor<4xf32> {gantry.state = #gantry.state<result = 0>}, %y: tensor<5xf32>) -> tensor<5xf32> { return %y : tensor<5xf32> }

// -----

// expected-error@+2 {{dimension "time" has sizes from 9 to 8}}
// expected-error@+1 {{failed to parse Gantry_PortAttr parameter 'dims'}}
func.func @range(%x: tensor<?xf32> {gantry.port = #gantry.port<name = "x", dims = [<"time", min = 9, max = 8>]>}) { return }

// -----

// expected-error@+1 {{name of a port is empty}}
func.func @port_name(%x: tensor<4xf32> {gantry.port = #gantry.port<name = "">}) { return }

// -----

// expected-error@+1 {{port "x" limits dimension "n" to sizes of at least 5 and at most 4}}
func.func @ranges(%x: tensor<?x?xf32> {gantry.port = #gantry.port<name = "x", dims = [<"n", min = 1, max = 4>, <"n", min = 5, max = 9>]>}) { return }

// -----

// expected-error@+1 {{a requirement has 0 dims, 1 symbols and 1 results; it must have 0 dims, 2 symbols and 1 result}}
func.func @requirement() attributes {gantry.requirements = #gantry.requirements<symbols = ["a", "b"], non_negative = [()[s0] -> (s0)]>} { return }

// -----

// expected-error@+1 {{model_stages of an order is -1; it must be at least 0}}
func.func @order() attributes {gantry.order = #gantry.order<model_peak_bytes = 0, model_stages = -1, stages = 0>} { return }

// -----

// expected-error@+1 {{bytes of a budget is 0; it must be at least 1}}
func.func @budget() attributes {gantry.budget = #gantry.budget<bytes = 0, peak_before = 0, recomputed = 0, recomputed_peak = 0, moved = 0>} { return }

// -----

// expected-error@+1 {{recomputed_peak of a budget is -8; it must be at least 0}}
func.func @recomputed_peak() attributes {gantry.budget = #gantry.budget<bytes = 8, peak_before = 8, recomputed = 1, recomputed_peak = -8, moved = 0>} { return }

// -----

// expected-error@+1 {{count of a chain of strips is 1; it must be at least 2}}
func.func @one_strip() attributes {chain = #gantry.strip_chain<first = "a", last = "b", count = 1, saved_bytes = 1, operations = 0>} { return }

// -----

// expected-error@+1 {{strips list no chain}}
func.func @no_strips() attributes {gantry.strips = #gantry.strips<chains = [], model_operations = 1>} { return }

// -----

// expected-error@+1 {{a layout lists pairs of a dimension and a block, not 3 numbers}}
func.func @odd_layout() attributes {layout = #gantry.layout<[0, 1, 1]>} { return }

// -----

// expected-error@+1 {{a layout lacks the part of dimension 1 in blocks of 1}}
func.func @incomplete_layout() attributes {layout = #gantry.layout<[0, 1, 1, 4]>} { return }

// -----

// expected-error@+2 {{failed to parse Gantry_MeasuredAttr parameter 'kind'}}
// expected-error@+1 {{expected ::gantry::codegen::TileKind to be one of: baseline, texel, staged, matrices, dots, subgroup}}
func.func @kind_of_measured() attributes {measured = #gantry.measured<kind = warp, tile = "points=4 steps=-", origin = "here">} { return }

// -----

// expected-error@+1 {{origin of a measured tile is empty}}
func.func @measured() attributes {measured = #gantry.measured<kind = baseline, tile = "points=4 steps=-", origin = "">} { return }

// -----

// expected-error@+1 {{the key of a kernel has 16 lower-case hexadecimal digits; it is "0123"}}
module attributes {gantry.kernel = #gantry.kernel<key = "0123">} {}

// -----

// expected-error@+1 {{the key of a kernel has 16 lower-case hexadecimal digits; it is "0123456789ABCDEF"}}
module attributes {gantry.kernel = #gantry.kernel<key = "0123456789ABCDEF">} {}

// -----

// expected-error@+1 {{program_steps of a kernel is -1; it must be at least 0}}
module attributes {gantry.kernel = #gantry.kernel<program_steps = -1>} {}

// -----

// expected-error@+1 {{result_dims of a signature contains -1; its entries must be at least 0}}
func.func @negative_dim() attributes {gantry.signature = #gantry.signature<result_dims = [-1]>} { return }

// -----

// expected-error@+1 {{its signature has 1 layouts for 1 operands and a result}}
func.func @layouts(%x: tensor<4xf32>) -> tensor<4xf32> attributes {gantry.signature = #gantry.signature<layouts = [<[]>]>} { return %x : tensor<4xf32> }

// -----

// expected-error@+1 {{operand_dims of its signature has 0 entries for 1 dynamic dimensions}}
func.func @operand_dims(%x: tensor<?xf32>, %n: index) attributes {gantry.signature = #gantry.signature} { return }

// -----

// expected-error@+1 {{result_dims of its signature has 0 entries for 1 dynamic dimensions}}
func.func private @result_dims(tensor<4xf32>, index) -> tensor<?xf32> attributes {gantry.signature = #gantry.signature}

// -----

// expected-error@+1 {{its signature refers to dim 1; it must be less than the number of dims, 1}}
func.func @dim_of_signature(%x: tensor<?xf32>, %n: index) attributes {gantry.signature = #gantry.signature<operand_dims = [1]>} { return }

// -----

// expected-error@+1 {{grid of a staged tile is 0; it must be 0 for the baseline and not 0 for other kinds}}
func.func @grid() attributes {gantry.tile = #gantry.tile<kind = staged, extents = [1], merged = 1, text = "4", exact = "points=4 steps=-">} { return }

// -----

// expected-error@+1 {{and at least 1 lane and 1 element along every dimension}}
func.func @extents() attributes {gantry.tile = #gantry.tile<kind = baseline, extents = [0], merged = 1, text = "4", exact = "points=4 steps=-">} { return }

// -----

// expected-error@+1 {{a launch has at least 1 buffer, invocation and tile; it has 1, 0 and 1}}
func.func @launch() attributes {gantry.launch = #gantry.launch<buffers = 1, workgroup_size = 0>} { return }

// -----

// expected-error@+1 {{merged of a tile is 9; it must be at least 0 and at most the number of extents, 1}}
func.func @merged() attributes {gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 9, text = "4", exact = "points=4 steps=-">} { return }

// -----

// expected-error@+1 {{exact of a tile is empty}}
func.func @exact() attributes {gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4", exact = "">} { return }

// -----

// expected-error@+1 {{the loops have -1 rounds; the number must be at least 0 and at most 4294967295}}
func.func @rounds() attributes {gantry.loops = #gantry.loops<rounds = -1>} { return }

// -----

// expected-error@+1 {{the dims of the loops are not in ascending order: 1 is before 1}}
func.func @dims_of_loops() attributes {gantry.loops = #gantry.loops<rounds = 1, dims = [0, 1, 1]>} { return }

// -----

// expected-error@+1 {{its loops refer to dim 1; it must be less than the number of dims, 1}}
func.func @dim_of_launch() attributes {gantry.launch = #gantry.launch<buffers = 1, dims = 1, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 1, dims = [0, 1]>} { return }

// -----

// expected-error@+1 {{workgroups of the slices is 0; it must be at least 1}}
func.func @workgroups() attributes {gantry.slices = #gantry.slices<workgroups = 0, bytes = [4]>} { return }

// -----

// expected-error@+1 {{bytes of the slices contains -4; its entries must be at least 0}}
func.func @bytes() attributes {gantry.slices = #gantry.slices<workgroups = 1, bytes = [0, -4]>} { return }

// -----

// expected-error@+1 {{its slices have 1 entries for 2 buffers}}
func.func @buffers_of_slices() attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [4]>} { return }

// -----

// expected-error@+1 {{dim_multiples of a signature contains 0; its entries must be at least 1}}
func.func @multiples() attributes {gantry.signature = #gantry.signature<dim_multiples = [4, 0]>} { return }

// -----

// expected-error@+1 {{dim_multiples of a tile contains 0; its entries must be at least 1}}
func.func @multiples_of_tile() attributes {gantry.tile = #gantry.tile<kind = texel, grid = 1, extents = [4], merged = 1, cost = 2, dim_multiples = [0], text = "4", exact = "points=4 steps=-">} { return }

// -----

// expected-error@+1 {{a tile for multiples must have a cost, by which a session chooses it}}
func.func @multiples_without_cost() attributes {gantry.tile = #gantry.tile<kind = texel, grid = 1, extents = [4], merged = 1, dim_multiples = [4], text = "4", exact = "points=4 steps=-">} { return }

// -----

// expected-error@+1 {{cost of the prediction is -1; it must be at least 0}}
func.func @cost() attributes {gantry.prediction = #gantry.prediction<cost = -1, accesses = 2>} { return }

// -----

// expected-error@+1 {{the prediction has 3 vector accesses; it must have at most as many as accesses, 2}}
func.func @accesses() attributes {gantry.prediction = #gantry.prediction<cost = 1, accesses = 2, vector_accesses = 3>} { return }

// -----

// expected-error@+1 {{remark 1 is empty}}
func.func @remark() attributes {gantry.remarks = #gantry.remarks<["taken", ""]>} { return }

// -----

// expected-error@+1 {{a binding of a buffer needs an index}}
func.func @buffer_index(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer>}) { return }

// -----

// expected-error@+1 {{a binding of a lane has no index}}
func.func @lane_index(%x: index {gantry.binding = #gantry.binding<lane[1]>}) { return }

// -----

// expected-error@+1 {{a dim is not read as texels}}
func.func @texels(%x: index {gantry.binding = #gantry.binding<dim[0] texels_of = f16>}) { return }

// -----

// expected-error@+1 {{skipped is 4; it must be from 0 to 3}}
func.func @skips_vector(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0] skipped = 4>}) { return }

// -----

// expected-error@+1 {{only a view of a buffer's vectors skips elements, not dim}}
func.func @skips_dim(%x: index {gantry.binding = #gantry.binding<dim[0] skipped = 1>}) { return }

// -----

// expected-error@+1 {{only a view of a buffer's vectors skips elements, not texels}}
func.func @skips_texels(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0] texels_of = f16 skipped = 1>}) { return }

// -----

// expected-error@+1 {{buffer of a texel view is -1; it must be at least 0}}
func.func @view() attributes {view = #gantry.texel_view<buffer = -1, format = rgba32f>} { return }

// -----

// expected-error@+1 {{buffers of the mode address have no texel views, not 1}}
spirv.module Logical GLSL450 attributes {gantry.buffers = #gantry.buffers<mode = address, texel_views = [<buffer = 0, format = rgba32f>]>} {}

// -----

// expected-error@+1 {{the texel views are not in the order of their buffers: 1 is before 0}}
spirv.module Logical GLSL450 attributes {gantry.buffers = #gantry.buffers<mode = texel, texel_views = [<buffer = 1, format = rgba32f>, <buffer = 0, format = rgba32f>]>} {}

// -----

// expected-error@+1 {{it reads buffer 2 as texels; the index must be less than the number of buffers, 2}}
spirv.module Logical GLSL450 attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.buffers = #gantry.buffers<mode = texel, texel_views = [<buffer = 2, format = rgba32f>]>} {}

// -----

// expected-error@+1 {{struct is missing required parameter: buffers}}
func.func @missing() attributes {gantry.launch = #gantry.launch<workgroup_size = 64>} { return }

// -----

func.func @layouts_of_dispatch(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{layouts has 1 entries for 1 operands and a result}}
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, layouts = [#gantry.layout<[]>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @concat_at_dynamic_places(%x: tensor<4x?xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{has a dynamic extent from dimension 1 on}}
  %y = gantry.concat %x, %x along 1 : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @extent_of_storage(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{within of a layout contains 0; its entries must be at least 1, or -1}}
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, layouts = [#gantry.layout<[]>, #gantry.layout<[], within = [0]>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @start_in_buffer(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{start of a layout is -4; it must be at least 0}}
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, layouts = [#gantry.layout<[]>, #gantry.layout<[], start = -4>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @rows_of_another_shape(%x: tensor<8x4xf32>, %u: tensor<2x3xf32>, %i: tensor<2xi32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{the updates 'tensor<2x3xf32>' do not have the shape of rows of 'tensor<8x4xf32>'}}
  %y = gantry.scatter %u into %x at %i : tensor<2x3xf32> into tensor<8x4xf32> at tensor<2xi32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @rows_without_positions(%x: tensor<8x4xf32>, %u: tensor<2x4xf32>, %i: tensor<3xi32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{the positions 'tensor<3xi32>' do not have the leading dimensions of the updates 'tensor<2x4xf32>'}}
  %y = gantry.scatter %u into %x at %i : tensor<2x4xf32> into tensor<8x4xf32> at tensor<3xi32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @collapsed_too_far(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{collapses 3 dimensions into one; its result has 2}}
  %y = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, collapsed = 3} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @scattered_nowhere(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{is scattered but not in place}}
  %y = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, scattered = array<i64: 2>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @scattered_without_dim(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{scattered refers to dim 1; it must be less than the number of dims, 0}}
  %y = gantry.dispatch @k(%x) dims() {in_place = 0, operand_dims = array<i64>, result_dims = array<i64>, scattered = array<i64: -2>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @concat_of_too_few(%x: tensor<1x4xf32>) -> tensor<1x8xf32> {
  // expected-error@+1 {{the inputs have 4 of 8 elements along dimension 1}}
  %y = gantry.concat %x along 1 : (tensor<1x4xf32>) -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// -----

func.func @concat_of_another_shape(%x: tensor<1x4x3xf32>) -> tensor<1x4x2xf32> {
  // expected-error@+1 {{the input 'tensor<1x4x3xf32>' does not fit the result 'tensor<1x4x2xf32>'}}
  %y = gantry.concat %x along 1 : (tensor<1x4x3xf32>) -> tensor<1x4x2xf32>
  return %y : tensor<1x4x2xf32>
}

// -----

func.func @concat_along_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is along dimension 1 of a tensor of rank 1}}
  %y = gantry.concat %x along 1 : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @interleaved_types(%x: tensor<1x4xf32>, %y: tensor<1x5xf32>) -> tensor<1x9xf32> {
  // expected-error@+1 {{interleaves inputs of different types, 'tensor<1x5xf32>' and 'tensor<1x4xf32>'}}
  %z = gantry.concat %x, %y along 1 interleaved : (tensor<1x4xf32>, tensor<1x5xf32>) -> tensor<1x9xf32>
  return %z : tensor<1x9xf32>
}

// -----

func.func @steps_of_storage(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{steps of a layout contains 0; its entries must be at least 1}}
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, layouts = [#gantry.layout<[]>, #gantry.layout<[], within = [8], steps = [0]>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @steps_without_storage(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{steps of a layout has 1 entries, but within has 0}}
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, layouts = [#gantry.layout<[]>, #gantry.layout<[], steps = [2]>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

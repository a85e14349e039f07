// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches))' | FileCheck %s --check-prefix=FORM
// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches),outline-kernels,builtin.module(emit-kernels{profile=vulkan:lavapipe},cse))' | FileCheck %s --check-prefix=EMIT
// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches),outline-kernels,builtin.module(emit-kernels{profile=vulkan:nvidia-hopper},cse))' | FileCheck %s --check-prefix=GPU

#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r, 0)>

// A softmax is one kernel: its maximum and its sum are reductions over the rows of its result.
// FORM-LABEL: func @softmax
// FORM: gantry.dispatch(%arg0) dims() flops %{{.*}}, rows}
// FORM-NOT: gantry.dispatch

// The baseline reads the row three times. A subgroup keeps the row in registers: it loads each vector
// once, has no loop, and each reduction takes three exchanges between lanes.
// EMIT-LABEL: func.func @kernel_0(
// EMIT-COUNT-3: scf.for
// EMIT-LABEL: func.func @kernel_0_texel(
// EMIT-SAME: lanes = 8
// EMIT-COUNT-8: memref.load
// EMIT-NOT: memref.load
// EMIT: arith.maximumf
// EMIT-COUNT-3: spirv.GroupNonUniformShuffleXor
// EMIT: math.exp
// EMIT-COUNT-3: spirv.GroupNonUniformShuffleXor
// EMIT-NOT: scf.for
// EMIT: memref.store

// On a GPU that does not prefer texels, a subgroup shares the row too, and reads vectors of plain buffers: each of 32
// lanes loads two, and each reduction takes five exchanges.
// GPU-LABEL: func.func @kernel_0(
// GPU-COUNT-3: scf.for
// GPU-LABEL: func.func @kernel_0_subgroup(
// GPU-SAME: lanes = 32
// GPU-COUNT-2: memref.load {{.*}}vector<4xf32>
// GPU-NOT: memref.load
// GPU: arith.maximumf
// GPU-COUNT-5: spirv.GroupNonUniformShuffleXor
// GPU: math.exp
// GPU-COUNT-5: spirv.GroupNonUniformShuffleXor
// GPU-NOT: scf.for
// GPU: memref.store
func.func @softmax(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<64x1xf32>
  %e = tensor.empty() : tensor<64x256xf32>
  %i0 = linalg.fill ins(%ninf : f32) outs(%er : tensor<64x1xf32>) -> tensor<64x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%i0 : tensor<64x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<64x1xf32>
  %ex = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<64x256xf32>, tensor<64x1xf32>) outs(%e : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x256xf32>
  %i1 = linalg.fill ins(%z : f32) outs(%er : tensor<64x1xf32>) -> tensor<64x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%ex : tensor<64x256xf32>) outs(%i1 : tensor<64x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<64x1xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%ex, %s : tensor<64x256xf32>, tensor<64x1xf32>) outs(%e : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}

// The rows begin at addresses that are not multiples of four. The subgroup kernel nevertheless loads vectors: its
// runs are aligned to the addresses, so each of the eight lanes holds nine vectors of a row of 255 elements, of which
// only the first and the last are tested against the row's ends. In memory, 255 rows do not fill whole vectors; full
// vectors of the result are stored as such, and the others element by element.
// FORM-LABEL: func @shifted
// FORM: gantry.dispatch
// EMIT-LABEL: func.func @kernel_1_texel(
// EMIT-SAME: run=4 row=255
// EMIT-COUNT-9: memref.load %{{.*}} : memref<?xvector<4xf32>
// EMIT-NOT: memref.load
// EMIT-COUNT-6: memref.store %{{.*}} : memref<?xvector<4xf32>
// EMIT: scf.if
// EMIT: memref.store %{{.*}} : memref<?xf32
func.func @shifted(%x: tensor<255x255xf32>) -> tensor<255x255xf32> {
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<255x1xf32>
  %e = tensor.empty() : tensor<255x255xf32>
  %i1 = linalg.fill ins(%z : f32) outs(%er : tensor<255x1xf32>) -> tensor<255x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<255x255xf32>) outs(%i1 : tensor<255x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<255x1xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<255x255xf32>, tensor<255x1xf32>) outs(%e : tensor<255x255xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<255x255xf32>
  return %r : tensor<255x255xf32>
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches),outline-kernels,builtin.module(emit-kernels{profile=vulkan:lavapipe},cse))' | FileCheck %s

#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// The rows begin at addresses that are not multiples of four. One invocation reduces a row. It nevertheless loads
// vectors, which are aligned to the addresses: a row of 53 elements lies in at most 14 vectors, of which only the first
// and the last two are tested against the row's ends.
// CHECK-LABEL: func.func @kernel_0_texel(
// CHECK-SAME: steps=56
// CHECK-SAME: row=53 reduced
// CHECK-COUNT-14: memref.load %{{.*}} : memref<?xvector<4xf32>
// CHECK-NOT: memref.load
// CHECK-NOT: scf.if
// CHECK: memref.store
func.func @by_invocations(%x: tensor<512x53xf32>) -> tensor<512xf32> {
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<512xf32>
  %i = linalg.fill ins(%z : f32) outs(%er : tensor<512xf32>) -> tensor<512xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<512x53xf32>) outs(%i : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<512xf32>
  return %s : tensor<512xf32>
}

// There are too few rows to keep the device busy with one invocation each. A subgroup shares a row, and its first
// invocation stores the result.
// CHECK-LABEL: func.func @kernel_1_texel(
// CHECK-SAME: lanes=8 run=4 row=1001 reduced
// CHECK-COUNT-32: memref.load %{{.*}} : memref<?xvector<4xf32>
// CHECK-NOT: memref.load
// CHECK-COUNT-3: spirv.GroupNonUniformShuffleXor
// CHECK: scf.if
// CHECK-NEXT: memref.store
func.func @by_subgroups(%x: tensor<3x1001xf32>) -> tensor<3xf32> {
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<3xf32>
  %i = linalg.fill ins(%z : f32) outs(%er : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x1001xf32>) outs(%i : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %s : tensor<3xf32>
}

// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,form-dispatches,fit-budget{budget-bytes=40000},assign-storage))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,form-dispatches,fit-budget{budget-bytes=70000}))' | FileCheck %s --check-prefix=WIDE
// RUN: not gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,form-dispatches,fit-budget{budget-bytes=30000}))' 2>&1 | FileCheck %s --check-prefix=SMALL

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#rowonly = affine_map<(d0, d1) -> (d0)>

// %a (32 KiB) is cheap and would be alive together with %b (32 KiB), so %a is computed twice.
// WIDE-LABEL: func @again
// WIDE-COUNT-6: = gantry.dispatch
// WIDE-NOT: = gantry.dispatch
// CHECK-LABEL: func @again
// CHECK-SAME: gantry.budget = #gantry.budget<bytes = 40000,
// CHECK-SAME: recomputed = 1,
// CHECK-SAME: moved = 0>
// CHECK-COUNT-7: = gantry.dispatch
// CHECK-NOT: gantry.move
// SMALL: error: the program cannot fit into a budget of 29.30 KiB (30000 bytes): the smallest that can is 32.25 KiB (33024 bytes), which one dispatch needs by itself
func.func @again(%x: tensor<64x128xf32>) -> tensor<64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %er = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<64x128xf32>
  %a1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %b = linalg.generic {indexing_maps = [#id, #rowonly, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %a1 : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.divf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<64x128xf32>
  %b1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%b : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %b2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%b : tensor<64x128xf32>) outs(%b1 : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.maximumf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %a2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x128xf32>) outs(%b2 : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.maximumf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %a2 : tensor<64xf32>
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(cse,form-dispatches),outline-kernels)' | FileCheck %s

#t = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// The three dispatches have two distinct kernels. Each has 64 steps.
// CHECK-LABEL: func @main
// CHECK: gantry.dispatch @kernel_0(
// CHECK: gantry.dispatch @kernel_1(
// CHECK: gantry.dispatch @kernel_0(
// CHECK: module @kernel_0 attributes {gantry.kernel = #gantry.kernel<program_steps = 192>}
// CHECK: func.func @kernel_0(%{{.*}}: tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: module @kernel_1 attributes {gantry.kernel = #gantry.kernel<program_steps = 192>}
// CHECK-NOT: module @kernel_2
func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.tanh %p : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

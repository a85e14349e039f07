// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(pad-sizes{blocks},form-dispatches),outline-kernels,builtin.module(emit-kernels{profile=vulkan:lavapipe},cse))' | FileCheck %s

#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q, 0)>
#column = affine_map<(b, q, k) -> (b, 0, k)>
#mask = affine_map<(b, q, k) -> (q, k)>
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#at = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#bt = affine_map<(b, m, n, k) -> (b, n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
#transposed = affine_map<(b, v, q) -> (b, q, v)>

// A corner of an attention's result is computed in its dispatch, and transposed. The lanes share the dimension of the
// values, which is dimension 1 of the transposed result.
// CHECK-LABEL: func.func @sliced(
// CHECK: gantry.dispatch @kernel_0
// CHECK-NOT: gantry.dispatch
// CHECK-LABEL: func.func @odd(
// CHECK-NOT: tensor.pad
// CHECK: gantry.dispatch @kernel_1(%arg0, %arg1, %arg3, %arg2)
// CHECK-LABEL: func.func @kernel_0_texel(
// CHECK-SAME: text = "8 lanes of 1x4x1 points, lanes along dimension 1,
// CHECK: math.exp
// CHECK: memref.store
func.func @sliced(%q: tensor<2x16x8xf32>, %k: tensor<2x24x8xf32>, %v: tensor<2x24x8xf32>, %mask: tensor<16x24xf32>) -> tensor<2x8x12xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x16x24xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x16x24xf32>) -> tensor<2x16x24xf32>
  %products = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x16x8xf32>, tensor<2x24x8xf32>) outs(%i : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x24xf32>
  %scores = linalg.generic {indexing_maps = [#id, #mask, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products, %mask : tensor<2x16x24xf32>, tensor<16x24xf32>) outs(%e : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %scale : f32
    %2 = arith.addf %1, %b : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x24xf32>
  %er = tensor.empty() : tensor<2x16x1xf32>
  %im = linalg.fill ins(%ninf : f32) outs(%er : tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x16x24xf32>) outs(%im : tensor<2x16x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x1xf32>
  %x = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %m : tensor<2x16x24xf32>, tensor<2x16x1xf32>) outs(%e : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x24xf32>
  %is = linalg.fill ins(%z : f32) outs(%er : tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x16x24xf32>) outs(%is : tensor<2x16x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x1xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x16x24xf32>, tensor<2x16x1xf32>) outs(%e : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x24xf32>
  %ey = tensor.empty() : tensor<2x16x8xf32>
  %iy = linalg.fill ins(%z : f32) outs(%ey : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x16x24xf32>, tensor<2x24x8xf32>) outs(%iy : tensor<2x16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x8xf32>
  %few = tensor.extract_slice %y[0, 0, 0] [2, 12, 8] [1, 1, 1] : tensor<2x16x8xf32> to tensor<2x12x8xf32>
  %et = tensor.empty() : tensor<2x8x12xf32>
  %t = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%few : tensor<2x12x8xf32>) outs(%et : tensor<2x8x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x8x12xf32>
  return %t : tensor<2x8x12xf32>
}

// Odd sizes of the keys and values are not padded. The sum of each score has a loop of whole rounds and a rest of five
// steps; the lanes hold runs of four values, of which the last is partial.
// CHECK-LABEL: func.func @kernel_1_texel(
// CHECK-SAME: text = "8 lanes of 1x2x4 points, lanes along dimension 2, reduction unrolled 8,
// CHECK: %[[BLOCKS:.*]]:12 = scf.for
// CHECK-NEXT: %[[SCORES:.*]]:2 = scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step
// CHECK-NOT: memref.load %arg1{{.*}} : memref<?xf32
// CHECK: math.exp
func.func @odd(%q: tensor<2x16x29xf32>, %k: tensor<2x24x29xf32>, %v: tensor<2x24x29xf32>, %mask: tensor<16x24xf32>) -> tensor<2x16x29xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x16x24xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x16x24xf32>) -> tensor<2x16x24xf32>
  %products = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x16x29xf32>, tensor<2x24x29xf32>) outs(%i : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x24xf32>
  %scores = linalg.generic {indexing_maps = [#id, #mask, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products, %mask : tensor<2x16x24xf32>, tensor<16x24xf32>) outs(%e : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %scale : f32
    %2 = arith.addf %1, %b : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x24xf32>
  %er = tensor.empty() : tensor<2x16x1xf32>
  %im = linalg.fill ins(%ninf : f32) outs(%er : tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x16x24xf32>) outs(%im : tensor<2x16x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x1xf32>
  %x = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %m : tensor<2x16x24xf32>, tensor<2x16x1xf32>) outs(%e : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x24xf32>
  %is = linalg.fill ins(%z : f32) outs(%er : tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x16x24xf32>) outs(%is : tensor<2x16x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x1xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x16x24xf32>, tensor<2x16x1xf32>) outs(%e : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x24xf32>
  %ey = tensor.empty() : tensor<2x16x29xf32>
  %iy = linalg.fill ins(%z : f32) outs(%ey : tensor<2x16x29xf32>) -> tensor<2x16x29xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x16x24xf32>, tensor<2x24x29xf32>) outs(%iy : tensor<2x16x29xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x29xf32>
  return %y : tensor<2x16x29xf32>
}

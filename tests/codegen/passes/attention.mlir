// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches))' | FileCheck %s
// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches{score-bytes=65536}))' | FileCheck %s --check-prefix=KEEP
// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches{max-buffers=4}))' | FileCheck %s --check-prefix=FEW
// RUN: gantry-opt %s --pass-pipeline='builtin.module(func.func(form-dispatches),outline-kernels,builtin.module(emit-kernels{profile=vulkan:lavapipe},cse))' | FileCheck %s --check-prefix=EMIT

#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q, 0)>
#column = affine_map<(b, q, k) -> (b, 0, k)>
#mask = affine_map<(b, q, k) -> (q, k)>
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#at = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#bt = affine_map<(b, m, n, k) -> (b, n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

// The whole attention is one dispatch, and no tensor of scores is stored.
// CHECK-LABEL: func @attention
// CHECK: gantry.dispatch(%arg0, %arg1, %arg3, %arg2)
// CHECK-NOT: gantry.dispatch
// CHECK-NOT: gantry.why

// The attention is not fused where the scores fit into the cache or the dispatch would bind too many
// buffers. A remark gives the reason.
// KEEP-LABEL: func @attention
// KEEP: gantry.dispatch(%arg0, %arg1)
// KEEP: gantry.dispatch
// KEEP: gantry.dispatch
// KEEP: gantry.why = "no kernel for the whole attention: scores of 3072 bytes fit into a cache of 65536 bytes"
// FEW-LABEL: func @attention
// FEW-COUNT-3: gantry.dispatch
// FEW: gantry.why = "no kernel for the whole attention: 5 buffers, more than the limit of 4"

// The kernel has one loop over the keys. The baseline computes a few scores in each round, with an
// inner loop for the sums of the first matmul. In the other variant, the lanes of a subgroup
// exchange the maximum of the scores and broadcast the weight of each key, exp(score - maximum).
// After the loop, they add up their sums of the weights.
// EMIT-LABEL: func.func @kernel_0(
// EMIT: scf.for
// EMIT: arith.maximumf
// EMIT: math.exp
// EMIT-LABEL: func.func @kernel_0_texel(
// EMIT-SAME: lanes = 8
// EMIT-SAME: keys at a time
// EMIT-NOT: memref.alloc
// EMIT: scf.for
// EMIT: spirv.GroupNonUniformShuffleXor
// EMIT: math.exp
// EMIT: spirv.GroupNonUniformShuffle <Subgroup>
// EMIT: scf.yield
// EMIT: spirv.GroupNonUniformShuffleXor
// EMIT: memref.store
func.func @attention(%q: tensor<2x16x8xf32>, %k: tensor<2x24x8xf32>, %v: tensor<2x24x8xf32>, %mask: tensor<16x24xf32>) -> tensor<2x16x8xf32> {
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
  return %y : tensor<2x16x8xf32>
}

// The scores are also a result of the program, so they must be stored.
// CHECK-LABEL: func @scores_used_twice
// CHECK-COUNT-3: gantry.dispatch
func.func @scores_used_twice(%q: tensor<2x16x8xf32>, %k: tensor<2x24x8xf32>, %v: tensor<2x24x8xf32>, %mask: tensor<16x24xf32>) -> (tensor<2x16x8xf32>, tensor<2x16x24xf32>) {
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
  return %y, %scores : tensor<2x16x8xf32>, tensor<2x16x24xf32>
}

// The softmax is over the queries instead of the keys, so the attention is not one dispatch.
// CHECK-LABEL: func @over_the_queries
// CHECK: gantry.dispatch
// CHECK: gantry.dispatch
// CHECK: gantry.dispatch
func.func @over_the_queries(%q: tensor<2x16x8xf32>, %k: tensor<2x24x8xf32>, %v: tensor<2x24x8xf32>, %mask: tensor<16x24xf32>) -> tensor<2x16x8xf32> {
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
  %er = tensor.empty() : tensor<2x1x24xf32>
  %im = linalg.fill ins(%ninf : f32) outs(%er : tensor<2x1x24xf32>) -> tensor<2x1x24xf32>
  %m = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction", "parallel"]} ins(%scores : tensor<2x16x24xf32>) outs(%im : tensor<2x1x24xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x1x24xf32>
  %x = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %m : tensor<2x16x24xf32>, tensor<2x1x24xf32>) outs(%e : tensor<2x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x24xf32>
  %is = linalg.fill ins(%z : f32) outs(%er : tensor<2x1x24xf32>) -> tensor<2x1x24xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<2x16x24xf32>) outs(%is : tensor<2x1x24xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x1x24xf32>
  %p = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x16x24xf32>, tensor<2x1x24xf32>) outs(%e : tensor<2x16x24xf32>) {
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
  return %y : tensor<2x16x8xf32>
}

// The values are summed over the queries instead of the keys, so the attention is not one dispatch.
// CHECK-LABEL: func @transposed
// CHECK-COUNT-3: gantry.dispatch
func.func @transposed(%q: tensor<2x16x8xf32>, %k: tensor<2x24x8xf32>, %v: tensor<2x16x8xf32>, %mask: tensor<16x24xf32>) -> tensor<2x24x8xf32> {
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
  %ey = tensor.empty() : tensor<2x24x8xf32>
  %iy = linalg.fill ins(%z : f32) outs(%ey : tensor<2x24x8xf32>) -> tensor<2x24x8xf32>
  %y = linalg.generic {indexing_maps = [#at, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x16x24xf32>, tensor<2x16x8xf32>) outs(%iy : tensor<2x24x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x24x8xf32>
  return %y : tensor<2x24x8xf32>
}

// A row of the values has 512 elements, whose sums do not fit into registers.
// CHECK-LABEL: func @large_values
// CHECK-COUNT-3: gantry.dispatch
// CHECK: gantry.why = "no kernel for the whole attention: rows of 512 values do not fit into registers (at most 256)"
func.func @large_values(%q: tensor<2x16x8xf32>, %k: tensor<2x24x8xf32>, %v: tensor<2x24x512xf32>, %mask: tensor<16x24xf32>) -> tensor<2x16x512xf32> {
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
  %ey = tensor.empty() : tensor<2x16x512xf32>
  %iy = linalg.fill ins(%z : f32) outs(%ey : tensor<2x16x512xf32>) -> tensor<2x16x512xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x16x24xf32>, tensor<2x24x512xf32>) outs(%iy : tensor<2x16x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x16x512xf32>
  return %y : tensor<2x16x512xf32>
}

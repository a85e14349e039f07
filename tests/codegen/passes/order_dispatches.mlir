// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,form-dispatches,order-dispatches))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,form-dispatches,order-dispatches{max-stage-growth=0}))' | FileCheck %s --check-prefix=STAGES

#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// Each of two branches first computes a large tensor and then small ones. When one branch runs
// after the other, only one large tensor is alive at a time. A view (a reshape) moves with the
// dispatch that reads it.
// CHECK-LABEL: func @branches
// CHECK-SAME: gantry.order = #gantry.order<model_peak_bytes = 66048, model_stages = 3, stages = 4>
// CHECK: gantry.dispatch(%arg0){{.*}} -> tensor<64x128xf32>
// CHECK: gantry.dispatch({{.*}} -> tensor<64xf32>
// CHECK: gantry.dispatch({{.*}} -> tensor<64xf32>
// CHECK: gantry.dispatch(%arg0){{.*}} -> tensor<64x128xf32>
// CHECK: tensor.collapse_shape
// CHECK: gantry.dispatch({{.*}} -> tensor<64xf32>
// CHECK: gantry.dispatch({{.*}} -> tensor<64xf32>
// Without additional stages (dispatches between two barriers), no order needs fewer bytes than the
// model's.
// STAGES-LABEL: func @branches
// STAGES: gantry.dispatch(%arg0){{.*}} -> tensor<64x128xf32>
// STAGES: gantry.dispatch(%arg0){{.*}} -> tensor<64x128xf32>
func.func @branches(%x: tensor<64x128xf32>) -> tensor<64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %er = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<64x128xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.sqrt %p : f32
    linalg.yield %v : f32
  } -> tensor<64x128xf32>
  %flat = tensor.collapse_shape %b [[0, 1]] : tensor<64x128xf32> into tensor<8192xf32>
  %again = tensor.expand_shape %flat [[0, 1]] output_shape [64, 128] : tensor<8192xf32> into tensor<64x128xf32>
  %c = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %c2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.maximumf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%again : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %d2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%again : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.maximumf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %es = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#one, #one, #one, #one, #one], iterator_types = ["parallel"]} ins(%c, %c2, %d, %d2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%es : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %t: f32, %o: f32):
    %v = arith.addf %p, %q : f32
    %w = arith.addf %r, %t : f32
    %u = arith.mulf %v, %w : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// -----

#one = affine_map<(d0) -> (d0)>

// The update of a state moves behind the last dispatch that reads the old value, and takes its buffer.
// CHECK-LABEL: func @update
// CHECK: gantry.dispatch(%arg1)
// CHECK: gantry.dispatch(%arg0, %{{.*}})
// CHECK: gantry.dispatch(%arg0, %arg1)
// CHECK: return
func.func @update(%w: tensor<64xf32> {gantry.state = #gantry.state<result = 0>}, %g: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %z = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %next = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%w, %g : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.subf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %norm = linalg.generic {indexing_maps = [#one, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%g : tensor<64xf32>) outs(%f : tensor<f32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %seen = linalg.generic {indexing_maps = [#one, affine_map<(d0) -> ()>, #one], iterator_types = ["parallel"]} ins(%w, %norm : tensor<64xf32>, tensor<f32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.mulf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %next, %seen : tensor<64xf32>, tensor<64xf32>
}

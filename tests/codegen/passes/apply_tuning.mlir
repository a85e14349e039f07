// RUN: gantry-opt %s --apply-tuning=built-in=false | FileCheck %s --check-prefix=KEYS
// RUN: gantry-opt %s --apply-tuning=built-in=false | sed -n 's/.*<key = "\([0-9a-f]*\)".*/{"gantry_tuning":1,"devices":[{"profile":"vulkan:lavapipe","device":"here","kernels":{"\1":{"tile":"texel points=8 steps=-","ns":1500,"predicted_ns":3000}}}]}/p' | head -n 1 > %t.json
// RUN: gantry-opt %s --pass-pipeline='builtin.module(apply-tuning{profile=vulkan:lavapipe file=%t.json built-in=false})' | FileCheck %s
// RUN: gantry-opt %s --pass-pipeline='builtin.module(apply-tuning{profile=vulkan:generic file=%t.json built-in=false})' | FileCheck %s --check-prefix=OTHER
// RUN: gantry-opt %s --pass-pipeline='builtin.module(apply-tuning{profile=vulkan:lavapipe file=%t.json built-in=false},builtin.module(emit-kernels{profile=vulkan:lavapipe}))' | FileCheck %s --check-prefix=EMIT

// Kernels that differ only in names and in values of float constants have the same key, under which
// a tuning table lists a measured tile (docs/tuning.md).
// KEYS: module @kernel_0 attributes {gantry.kernel = #gantry.kernel<key = "[[KEY:[0-9a-f]+]]">}
// KEYS: module @kernel_1 attributes {gantry.kernel = #gantry.kernel<key = "[[KEY]]">}
// KEYS: module @kernel_2 attributes {gantry.kernel = #gantry.kernel<key = "
// KEYS-NOT: [[KEY]]

// The tuning table has a tile for the key of the first two kernels. A table of another profile is
// not used.
// CHECK-COUNT-2: measured = <kind = texel, tile = "points=8 steps=-", origin = "{{.*}}.json: 1.5 us, the predicted tile 3 us, measured on here", requested = true>
// CHECK-NOT: measured =
// OTHER-NOT: measured =

// EMIT: func.func @kernel_0_texel({{.*}}gantry.remarks = #gantry.remarks<["measured: {{.*}} on here"]>{{.*}}kind = texel, {{.*}}exact = "points=8 steps=-"
#id = affine_map<(i) -> (i)>
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<64xf32>) -> tensor<64xf32> {
      %half = arith.constant 0.5 : f32
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
      ^bb0(%a: f32, %o: f32):
        %m = arith.mulf %a, %half : f32
        linalg.yield %m : f32
      } -> tensor<64xf32>
      return %r : tensor<64xf32>
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%other: tensor<64xf32>) -> tensor<64xf32> {
      %third = arith.constant 0.3 : f32
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%other : tensor<64xf32>) outs(%e : tensor<64xf32>) {
      ^bb0(%a: f32, %o: f32):
        %m = arith.mulf %a, %third : f32
        linalg.yield %m : f32
      } -> tensor<64xf32>
      return %r : tensor<64xf32>
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: tensor<64xf32>) -> tensor<64xf32> {
      %half = arith.constant 0.5 : f32
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
      ^bb0(%a: f32, %o: f32):
        %m = arith.addf %a, %half : f32
        linalg.yield %m : f32
      } -> tensor<64xf32>
      return %r : tensor<64xf32>
    }
  }
}

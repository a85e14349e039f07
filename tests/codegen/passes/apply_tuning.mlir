// RUN: gantry-opt %s --apply-tuning=built-in=false | FileCheck %s --check-prefix=KEYS
// RUN: gantry-opt %s --apply-tuning=built-in=false | sed -n 's/.*gantry.key = "\([0-9a-f]*\)".*/{"gantry_tuning":1,"devices":[{"profile":"vulkan:lavapipe","device":"here","kernels":{"\1":{"tile":"texel points=8 steps=-","ns":1500,"predicted_ns":3000}}}]}/p' | head -n 1 > %t.json
// RUN: gantry-opt %s --pass-pipeline='builtin.module(apply-tuning{profile=vulkan:lavapipe file=%t.json built-in=false})' | FileCheck %s
// RUN: gantry-opt %s --pass-pipeline='builtin.module(apply-tuning{profile=vulkan:generic file=%t.json built-in=false})' | FileCheck %s --check-prefix=OTHER
// RUN: gantry-opt %s --pass-pipeline='builtin.module(apply-tuning{profile=vulkan:lavapipe file=%t.json built-in=false},builtin.module(emit-kernels{profile=vulkan:lavapipe}))' | FileCheck %s --check-prefix=EMIT

// Kernels that differ by names and by the values of floats have one key; others have others.
// KEYS: module @kernel_0 attributes {gantry.kernel, gantry.key = "[[KEY:[0-9a-f]+]]"}
// KEYS: module @kernel_1 attributes {gantry.kernel, gantry.key = "[[KEY]]"}
// KEYS: module @kernel_2 attributes {gantry.kernel, gantry.key = "
// KEYS-NOT: [[KEY]]

// The first two are found; the device's profile must be the table's.
// CHECK-COUNT-2: gantry.measured = {origin = "{{.*}}.json: 1.5 us instead of 3 us as predicted on here", tile = "texel points=8 steps=-", told}
// CHECK-NOT: gantry.measured
// OTHER-NOT: gantry.measured

// EMIT: func.func @kernel_0_texel({{.*}}gantry.exact_tile = "texel points=8 steps=-"{{.*}}gantry.ladder = ["measured: {{.*}} on here"]
#id = affine_map<(i) -> (i)>
module {
  module @kernel_0 attributes {gantry.kernel} {
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
  module @kernel_1 attributes {gantry.kernel} {
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
  module @kernel_2 attributes {gantry.kernel} {
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

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(convert-kernels-to-spirv))' | FileCheck %s

// A driver may fuse the sum of products in a loop, so it has no NoContraction.
// CHECK-LABEL: spirv.func @dot
// CHECK-NOT: no_contraction
// CHECK: spirv.FMul
// CHECK-NOT: no_contraction
// CHECK: spirv.FAdd
// CHECK-NOT: no_contraction
// Outside of loops, arithmetic is computed as written.
// CHECK-LABEL: spirv.func @no_loop
// CHECK: spirv.FMul {{.*}} {no_contraction}
// CHECK: spirv.FAdd {{.*}} {no_contraction}
// In a loop, too, arithmetic is computed as written if its result is rounded to an integer.
// CHECK-LABEL: spirv.func @rounded
// CHECK: spirv.FMul {{.*}} {no_contraction}
// CHECK: spirv.FAdd {{.*}} {no_contraction}
// CHECK: spirv.GL.RoundEven
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @dot(%a: f32, %b: f32, %n: index) -> f32 {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %start = arith.constant 0.0 : f32
      %r = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> f32 {
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %s, %p : f32
        scf.yield %t : f32
      }
      return %r : f32
    }
    func.func @no_loop(%a: f32, %b: f32) -> f32 {
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %p, %b : f32
      return %t : f32
    }
    func.func @rounded(%a: f32, %b: f32, %n: index) -> f32 {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %r = scf.for %i = %zero to %n step %one iter_args(%s = %a) -> f32 {
        %p = arith.mulf %s, %b : f32
        %t = arith.addf %p, %a : f32
        %u = math.roundeven %t : f32
        scf.yield %u : f32
      }
      return %r : f32
    }
  }
}

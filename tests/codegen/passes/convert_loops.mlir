// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(convert-kernels-to-spirv))' | FileCheck %s

// Each carried value has a variable, which is read in the header and after the loop, so that a loop
// without iterations returns its initial values. Only the index is an argument of the header.
// CHECK-LABEL: spirv.func @kernel_0
// CHECK-SAME: (%[[A:.*]]: f32, %[[B:.*]]: f32, %[[N:.*]]: i32)
// CHECK: %[[X:.*]] = spirv.Variable : !spirv.ptr<f32, Function>
// CHECK: spirv.Store "Function" %[[X]], %[[A]] : f32
// CHECK: %[[Y:.*]] = spirv.Variable : !spirv.ptr<f32, Function>
// CHECK: spirv.Store "Function" %[[Y]], %[[B]] : f32
// CHECK: spirv.mlir.loop
// CHECK: ^bb1(%[[I:[a-z0-9]+]]: i32):
// CHECK-NEXT: %[[X0:.*]] = spirv.Load "Function" %[[X]] : f32
// CHECK-NEXT: %[[Y0:.*]] = spirv.Load "Function" %[[Y]] : f32
// CHECK-NEXT: spirv.SLessThan %[[I]], %[[N]]
// The inner loop starts with the values that the outer loop carries.
// CHECK: %[[Z:.*]] = spirv.Variable : !spirv.ptr<f32, Function>
// CHECK: spirv.Store "Function" %[[Z]], %[[X0]] : f32
// CHECK: spirv.mlir.loop
// CHECK: spirv.Load "Function" %[[Z]] : f32
// CHECK: %[[SUM:.*]] = spirv.FAdd
// CHECK-NEXT: spirv.Store "Function" %[[Z]], %[[SUM]] : f32
// CHECK-NEXT: spirv.Branch
// CHECK: spirv.mlir.merge
// CHECK: %[[END:.*]] = spirv.Load "Function" %[[Z]] : f32
// The loop swaps its carried values, so both are read before either is written.
// CHECK-NEXT: spirv.Store "Function" %[[X]], %[[Y0]] : f32
// CHECK-NEXT: spirv.Store "Function" %[[Y]], %[[END]] : f32
// CHECK-NEXT: spirv.Branch
// CHECK: spirv.IAdd %[[I]]
// CHECK: spirv.mlir.merge
// CHECK: %[[R:.*]] = spirv.Load "Function" %[[X]] : f32
// CHECK: %[[S:.*]] = spirv.Load "Function" %[[Y]] : f32
// CHECK-NEXT: spirv.FMul %[[R]], %[[S]]
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%a: f32, %b: f32, %n: index) -> f32 {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %r:2 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %b) -> (f32, f32) {
        %z = scf.for %j = %zero to %i step %one iter_args(%c = %x) -> (f32) {
          %d = arith.addf %c, %y : f32
          scf.yield %d : f32
        }
        scf.yield %y, %z : f32, f32
      }
      %p = arith.mulf %r#0, %r#1 : f32
      return %p : f32
    }
  }
}

// RUN: gantry-import %s | FileCheck %s
// Named operations become generics, and calls are inlined. An initial value that is not read becomes an
// empty tensor. If the initial value of a reduction is a tensor, the reduction starts from the
// neutral element instead, and a second operation combines its result with the tensor.

func.func private @twice(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = linalg.exp ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<4x4xf32> {gantry.port = #gantry.port<name = "a">}, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4x4xf32>
  // CHECK: %[[EXP:.*]] = linalg.generic
  // CHECK-SAME: outs(%[[EMPTY]] : tensor<4x4xf32>)
  %e = call @twice(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[FILL:.*]] = linalg.fill
  // CHECK: %[[PRODUCT:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[EXP]], %arg0
  // CHECK-SAME: outs(%[[FILL]]
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[PRODUCT]], %arg1
  // CHECK: arith.addf
  %m = linalg.matmul ins(%e, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NOT: linalg.matmul
  return %m : tensor<4x4xf32>
}

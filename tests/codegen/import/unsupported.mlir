// RUN: not gantry-import %s 2>&1 | FileCheck %s
// CHECK: error: operations that are not supported yet: linalg.generic with 2 results (1), tensor.cast (1)
func.func @main(%x: tensor<1x8x8x4xf32>, %y: tensor<?xf32>) -> (tensor<1x8x8xi32>, tensor<5xf32>) {
  %m = tosa.argmax %x {axis = 3 : i32} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8xi32>
  %c = tensor.cast %y : tensor<?xf32> to tensor<5xf32>
  return %m, %c : tensor<1x8x8xi32>, tensor<5xf32>
}

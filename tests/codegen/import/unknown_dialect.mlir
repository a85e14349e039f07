// RUN: not gantry-import %s 2>&1 | FileCheck %s
// CHECK: error: operations that are not supported yet: foo.bar (2)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "foo.bar"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

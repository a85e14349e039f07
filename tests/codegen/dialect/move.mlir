// RUN: gantry-opt %s | gantry-opt | FileCheck %s

// CHECK: %[[H:.*]] = gantry.move %{{.*}} to_host : tensor<64x128xf32>
// CHECK: gantry.move %[[H]] : tensor<64x128xf32>
func.func @there_and_back(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %h = gantry.move %x to_host : tensor<64x128xf32>
  %y = gantry.move %h : tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}

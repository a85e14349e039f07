// RUN: split-file %s %t
// RUN: gantry-import %t/iree_output.mlir | FileCheck %s --check-prefix=OUTPUT
// RUN: gantry-import %t/iree_consume.mlir | FileCheck %s --check-prefix=CONSUME
// RUN: gantry-import %t/tf.mlir | FileCheck %s --check-prefix=TF
// RUN: not gantry-import %t/no_result.mlir 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not gantry-import %t/other_type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not gantry-import %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE

// Tests the attributes of IREE and of TensorFlow that say what a run does with an argument's buffer.

//--- iree_output.mlir
// Argument 0 and result 1 become one state.
// OUTPUT: func.func @main(%arg0: tensor<4xf32> {gantry.port = #gantry.port<name = "arg0", dims = [<"">]>, gantry.state = #gantry.state<result = 1>},
// OUTPUT-SAME: %arg1: tensor<4xf32> {gantry.port = #gantry.port<name = "arg1", dims = [<"">]>})
// OUTPUT-NOT: iree.abi
func.func @main(%w: tensor<4xf32> {iree.abi.output = 1 : index}, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.addf %w, %x : tensor<4xf32>
  %1 = arith.mulf %w, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

//--- iree_consume.mlir
// A consumed argument is donated, unless a result takes over its buffer.
// CONSUME: %arg0: tensor<4xf32> {gantry.port = #gantry.port<name = "arg0", dims = [<"">], donated = true>}
// CONSUME-SAME: %arg1: tensor<4xf32> {gantry.port = #gantry.port<name = "arg1", dims = [<"">]>, gantry.state = #gantry.state<result = 0>}
func.func @main(%x: tensor<4xf32> {iree.abi.consume}, %w: tensor<4xf32> {iree.abi.consume, iree.abi.output = 0 : index}) -> tensor<4xf32> {
  %0 = arith.addf %w, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- tf.mlir
// TF: %arg0: tensor<4xf32> {gantry.port = #gantry.port<name = "arg0", dims = [<"">]>, gantry.state = #gantry.state<result = 0>}
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %w, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- no_result.mlir
// RANGE: argument 0: iree.abi.output must be the number of a result, below 1
func.func @main(%w: tensor<4xf32> {iree.abi.output = 1 : index}) -> tensor<4xf32> {
  %0 = arith.negf %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- other_type.mlir
// TYPE: argument 0: tf.aliasing_output is result 0, which has another type
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = arith.negf %x : tensor<5xf32>
  return %0 : tensor<5xf32>
}

//--- twice.mlir
// TWICE: result 0 takes over the buffers of two arguments
func.func @main(%w: tensor<4xf32> {iree.abi.output = 0 : index}, %x: tensor<4xf32> {iree.abi.output = 0 : index}) -> tensor<4xf32> {
  %0 = arith.addf %w, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

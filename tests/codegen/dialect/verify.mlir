// RUN: not gantry-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: error: 'gantry.dispatch' op operand_dims has 0 entries for 1 dynamic dimensions
func.func @missing_dim(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = gantry.dispatch @k(%x) dims(%n) {operand_dims = array<i64>, result_dims = array<i64: 0>} : (tensor<?xf32>, index) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK: error: 'gantry.dispatch' op result_dims refers to dim 3 of 1
func.func @dim_out_of_range(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = gantry.dispatch @k(%x) dims(%n) {operand_dims = array<i64: 0>, result_dims = array<i64: 3>} : (tensor<?xf32>, index) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK: error: 'gantry.dispatch' op needs either a region or a kernel
func.func @nothing_to_run(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gantry.dispatch(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: error: 'gantry.dispatch' op in_place names operand 2 of 1
func.func @no_such_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, in_place = 2} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

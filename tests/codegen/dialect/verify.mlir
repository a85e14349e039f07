// RUN: not gantry-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: error: 'gantry.dispatch' op operand_dims has 0 entries for 1 dynamic dimensions
func.func @missing_dim(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = gantry.dispatch @k(%x) dims(%n) {operand_dims = array<i64>, result_dims = array<i64: 0>} : (tensor<?xf32>, index) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK: error: 'gantry.dispatch' op result_dims refers to dim 3; it must be at least 0 and less than the number of dims, 1
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

// CHECK: error: 'gantry.dispatch' op in_place names operand 2; it must be less than the number of operands, 1
func.func @no_such_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gantry.dispatch @k(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>, in_place = 2} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: error: 'gantry.load_matrix' op a stride of 1 vectors of 16 bytes is less than a column of 32 bytes
func.func @stride(%pool: memref<640xvector<4xi32>>, %at: index) {
  %0 = gantry.load_matrix %pool[%at] stride 1 columns : memref<640xvector<4xi32>> -> !spirv.coopmatrix<16x8xf16, Subgroup, MatrixA>
  return
}

// -----

// CHECK: error: 'gantry.store_matrix' op a stride of 3 vectors of 16 bytes is less than a row of 64 bytes
func.func @overlapping(%pool: memref<640xvector<4xi32>>, %at: index, %sum: !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>) {
  gantry.store_matrix %sum, %pool[%at] stride 3 : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>, memref<640xvector<4xi32>>
  return
}

// -----

// CHECK: error: 'gantry.load_matrix' op 'i32' is not a cooperative matrix
func.func @no_matrix(%pool: memref<640xvector<4xi32>>, %at: index) {
  %0 = gantry.load_matrix %pool[%at] stride 5 : memref<640xvector<4xi32>> -> i32
  return
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(share-kernels)' | FileCheck %s

// A divisor may vary in a kernel with many other operations, and not in one with few.
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%c0{{.*}})
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%c1{{.*}})
// CHECK: gantry.dispatch @kernel_2(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_3(%{{.*}}) dims()
// CHECK-LABEL: module @kernel_0
// CHECK: %[[DIVISOR:.*]] = arith.addi %{{.*}}, %c7{{.*}} : index
// CHECK: arith.divui %{{.*}}, %[[DIVISOR]] : index
module {
  func.func @main(%x: tensor<64xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<64xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<64xf32>) -> tensor<8xf32>
    %2 = gantry.dispatch @kernel_2(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<64xf32>) -> tensor<8xf32>
    %3 = gantry.dispatch @kernel_3(%x) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<64xf32>) -> tensor<8xf32>
    return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %v = memref.load %x[%row] : memref<?xf32>
      %a00 = arith.addf %v, %v : f32  %a01 = arith.addf %a00, %v : f32  %a02 = arith.addf %a01, %v : f32  %a03 = arith.addf %a02, %v : f32  %a04 = arith.addf %a03, %v : f32  %a05 = arith.addf %a04, %v : f32  %a06 = arith.addf %a05, %v : f32  %a07 = arith.addf %a06, %v : f32  %a08 = arith.addf %a07, %v : f32  %a09 = arith.addf %a08, %v : f32
      %a10 = arith.addf %a09, %v : f32  %a11 = arith.addf %a10, %v : f32  %a12 = arith.addf %a11, %v : f32  %a13 = arith.addf %a12, %v : f32  %a14 = arith.addf %a13, %v : f32  %a15 = arith.addf %a14, %v : f32  %a16 = arith.addf %a15, %v : f32  %a17 = arith.addf %a16, %v : f32  %a18 = arith.addf %a17, %v : f32  %a19 = arith.addf %a18, %v : f32
      %a20 = arith.addf %a19, %v : f32  %a21 = arith.addf %a20, %v : f32  %a22 = arith.addf %a21, %v : f32  %a23 = arith.addf %a22, %v : f32  %a24 = arith.addf %a23, %v : f32  %a25 = arith.addf %a24, %v : f32  %a26 = arith.addf %a25, %v : f32  %a27 = arith.addf %a26, %v : f32  %a28 = arith.addf %a27, %v : f32  %a29 = arith.addf %a28, %v : f32
      %a30 = arith.addf %a29, %v : f32  %a31 = arith.addf %a30, %v : f32  %a32 = arith.addf %a31, %v : f32  %a33 = arith.addf %a32, %v : f32  %a34 = arith.addf %a33, %v : f32  %a35 = arith.addf %a34, %v : f32  %a36 = arith.addf %a35, %v : f32  %a37 = arith.addf %a36, %v : f32  %a38 = arith.addf %a37, %v : f32  %a39 = arith.addf %a38, %v : f32
      %a40 = arith.addf %a39, %v : f32  %a41 = arith.addf %a40, %v : f32  %a42 = arith.addf %a41, %v : f32  %a43 = arith.addf %a42, %v : f32  %a44 = arith.addf %a43, %v : f32  %a45 = arith.addf %a44, %v : f32  %a46 = arith.addf %a45, %v : f32  %a47 = arith.addf %a46, %v : f32  %a48 = arith.addf %a47, %v : f32  %a49 = arith.addf %a48, %v : f32
      %a50 = arith.addf %a49, %v : f32  %a51 = arith.addf %a50, %v : f32  %a52 = arith.addf %a51, %v : f32  %a53 = arith.addf %a52, %v : f32  %a54 = arith.addf %a53, %v : f32  %a55 = arith.addf %a54, %v : f32  %a56 = arith.addf %a55, %v : f32  %a57 = arith.addf %a56, %v : f32  %a58 = arith.addf %a57, %v : f32  %a59 = arith.addf %a58, %v : f32
      %a60 = arith.addf %a59, %v : f32  %a61 = arith.addf %a60, %v : f32  %a62 = arith.addf %a61, %v : f32  %a63 = arith.addf %a62, %v : f32  %a64 = arith.addf %a63, %v : f32  %a65 = arith.addf %a64, %v : f32  %a66 = arith.addf %a65, %v : f32  %a67 = arith.addf %a66, %v : f32  %a68 = arith.addf %a67, %v : f32  %a69 = arith.addf %a68, %v : f32
      %a70 = arith.addf %a69, %v : f32  %a71 = arith.addf %a70, %v : f32  %a72 = arith.addf %a71, %v : f32  %a73 = arith.addf %a72, %v : f32  %a74 = arith.addf %a73, %v : f32  %a75 = arith.addf %a74, %v : f32  %a76 = arith.addf %a75, %v : f32  %a77 = arith.addf %a76, %v : f32  %a78 = arith.addf %a77, %v : f32  %a79 = arith.addf %a78, %v : f32
      %a80 = arith.addf %a79, %v : f32  %a81 = arith.addf %a80, %v : f32  %a82 = arith.addf %a81, %v : f32  %a83 = arith.addf %a82, %v : f32  %a84 = arith.addf %a83, %v : f32  %a85 = arith.addf %a84, %v : f32  %a86 = arith.addf %a85, %v : f32  %a87 = arith.addf %a86, %v : f32  %a88 = arith.addf %a87, %v : f32  %a89 = arith.addf %a88, %v : f32
      %a90 = arith.addf %a89, %v : f32  %a91 = arith.addf %a90, %v : f32  %a92 = arith.addf %a91, %v : f32  %a93 = arith.addf %a92, %v : f32  %a94 = arith.addf %a93, %v : f32  %a95 = arith.addf %a94, %v : f32  %a96 = arith.addf %a95, %v : f32  %a97 = arith.addf %a96, %v : f32  %a98 = arith.addf %a97, %v : f32  %a99 = arith.addf %a98, %v : f32
      memref.store %a99, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %divisor = arith.constant 9 : index
      %row = arith.divui %g, %divisor : index
      %v = memref.load %x[%row] : memref<?xf32>
      %a00 = arith.addf %v, %v : f32  %a01 = arith.addf %a00, %v : f32  %a02 = arith.addf %a01, %v : f32  %a03 = arith.addf %a02, %v : f32  %a04 = arith.addf %a03, %v : f32  %a05 = arith.addf %a04, %v : f32  %a06 = arith.addf %a05, %v : f32  %a07 = arith.addf %a06, %v : f32  %a08 = arith.addf %a07, %v : f32  %a09 = arith.addf %a08, %v : f32
      %a10 = arith.addf %a09, %v : f32  %a11 = arith.addf %a10, %v : f32  %a12 = arith.addf %a11, %v : f32  %a13 = arith.addf %a12, %v : f32  %a14 = arith.addf %a13, %v : f32  %a15 = arith.addf %a14, %v : f32  %a16 = arith.addf %a15, %v : f32  %a17 = arith.addf %a16, %v : f32  %a18 = arith.addf %a17, %v : f32  %a19 = arith.addf %a18, %v : f32
      %a20 = arith.addf %a19, %v : f32  %a21 = arith.addf %a20, %v : f32  %a22 = arith.addf %a21, %v : f32  %a23 = arith.addf %a22, %v : f32  %a24 = arith.addf %a23, %v : f32  %a25 = arith.addf %a24, %v : f32  %a26 = arith.addf %a25, %v : f32  %a27 = arith.addf %a26, %v : f32  %a28 = arith.addf %a27, %v : f32  %a29 = arith.addf %a28, %v : f32
      %a30 = arith.addf %a29, %v : f32  %a31 = arith.addf %a30, %v : f32  %a32 = arith.addf %a31, %v : f32  %a33 = arith.addf %a32, %v : f32  %a34 = arith.addf %a33, %v : f32  %a35 = arith.addf %a34, %v : f32  %a36 = arith.addf %a35, %v : f32  %a37 = arith.addf %a36, %v : f32  %a38 = arith.addf %a37, %v : f32  %a39 = arith.addf %a38, %v : f32
      %a40 = arith.addf %a39, %v : f32  %a41 = arith.addf %a40, %v : f32  %a42 = arith.addf %a41, %v : f32  %a43 = arith.addf %a42, %v : f32  %a44 = arith.addf %a43, %v : f32  %a45 = arith.addf %a44, %v : f32  %a46 = arith.addf %a45, %v : f32  %a47 = arith.addf %a46, %v : f32  %a48 = arith.addf %a47, %v : f32  %a49 = arith.addf %a48, %v : f32
      %a50 = arith.addf %a49, %v : f32  %a51 = arith.addf %a50, %v : f32  %a52 = arith.addf %a51, %v : f32  %a53 = arith.addf %a52, %v : f32  %a54 = arith.addf %a53, %v : f32  %a55 = arith.addf %a54, %v : f32  %a56 = arith.addf %a55, %v : f32  %a57 = arith.addf %a56, %v : f32  %a58 = arith.addf %a57, %v : f32  %a59 = arith.addf %a58, %v : f32
      %a60 = arith.addf %a59, %v : f32  %a61 = arith.addf %a60, %v : f32  %a62 = arith.addf %a61, %v : f32  %a63 = arith.addf %a62, %v : f32  %a64 = arith.addf %a63, %v : f32  %a65 = arith.addf %a64, %v : f32  %a66 = arith.addf %a65, %v : f32  %a67 = arith.addf %a66, %v : f32  %a68 = arith.addf %a67, %v : f32  %a69 = arith.addf %a68, %v : f32
      %a70 = arith.addf %a69, %v : f32  %a71 = arith.addf %a70, %v : f32  %a72 = arith.addf %a71, %v : f32  %a73 = arith.addf %a72, %v : f32  %a74 = arith.addf %a73, %v : f32  %a75 = arith.addf %a74, %v : f32  %a76 = arith.addf %a75, %v : f32  %a77 = arith.addf %a76, %v : f32  %a78 = arith.addf %a77, %v : f32  %a79 = arith.addf %a78, %v : f32
      %a80 = arith.addf %a79, %v : f32  %a81 = arith.addf %a80, %v : f32  %a82 = arith.addf %a81, %v : f32  %a83 = arith.addf %a82, %v : f32  %a84 = arith.addf %a83, %v : f32  %a85 = arith.addf %a84, %v : f32  %a86 = arith.addf %a85, %v : f32  %a87 = arith.addf %a86, %v : f32  %a88 = arith.addf %a87, %v : f32  %a89 = arith.addf %a88, %v : f32
      %a90 = arith.addf %a89, %v : f32  %a91 = arith.addf %a90, %v : f32  %a92 = arith.addf %a91, %v : f32  %a93 = arith.addf %a92, %v : f32  %a94 = arith.addf %a93, %v : f32  %a95 = arith.addf %a94, %v : f32  %a96 = arith.addf %a95, %v : f32  %a97 = arith.addf %a96, %v : f32  %a98 = arith.addf %a97, %v : f32  %a99 = arith.addf %a98, %v : f32
      memref.store %a99, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %v = memref.load %x[%row] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_3 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_3(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %divisor = arith.constant 9 : index
      %row = arith.divui %g, %divisor : index
      %v = memref.load %x[%row] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
}

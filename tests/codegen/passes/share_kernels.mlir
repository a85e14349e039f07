// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(share-kernels)' | FileCheck %s

// The kernels differ in the bound of a loop and in a stride, whose differences are multiples of the same number. The
// divisor is equal. The first kernel takes this number as an argument.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = arith.constant 1 : index
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%[[A]])
// CHECK: %[[B:.*]] = arith.constant 2 : index
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%[[B]])
// CHECK: %[[C:.*]] = arith.constant 0 : index
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%[[C]])
// CHECK-LABEL: module @kernel_0
// CHECK: func.func @kernel_0({{.*}}, %[[N:.*]]: index {gantry.binding = #gantry.binding<dim[0]>})
// CHECK-SAME: gantry.launch = #gantry.launch<buffers = 2, dims = 1, workgroup_size = 64>
// CHECK-SAME: gantry.loops = #gantry.loops<rounds = 28>
// CHECK-NOT: gantry.slices
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[FOURS:.*]] = arith.muli %[[N]], %[[FOUR]] : index
// CHECK-DAG: %[[TRIPS:.*]] = arith.addi %[[FOURS]], %c20{{.*}} : index
// CHECK-DAG: %[[SIXTEEN:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[SIXTEENS:.*]] = arith.muli %[[N]], %[[SIXTEEN]] : index
// CHECK-DAG: %[[STRIDE:.*]] = arith.addi %[[SIXTEENS]], %c80{{.*}} : index
// CHECK: %[[START:.*]] = arith.muli %{{.*}}, %[[STRIDE]]
// CHECK: scf.for %{{.*}} = %c0 to %[[TRIPS]]
// CHECK-NOT: module @kernel_1
// CHECK-NOT: module @kernel_2
module {
  func.func @main(%x0: tensor<768xf32>, %x1: tensor<896xf32>, %x2: tensor<640xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<896xf32>) -> tensor<8xf32>
    %2 = gantry.dispatch @kernel_2(%x2) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<640xf32>) -> tensor<8xf32>
    return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 24>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [96, 4]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 24 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 28>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [112, 4]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 28 : index
      %stride = arith.constant 112 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 20>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [80, 4]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 20 : index
      %stride = arith.constant 80 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
}

// -----

// Only one of the numbers differs, so it is the argument itself.
// CHECK-LABEL: module @kernel_0
// CHECK: func.func @kernel_0({{.*}}, %[[N:.*]]: index {gantry.binding = #gantry.binding<dim[0]>})
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step
// CHECK-NOT: module @kernel_1
module {
  func.func @main(%x0: tensor<768xf32>, %x1: tensor<768xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 24 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 25 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
}

// -----

// Kernels with other divisors, other tiles, or other operations keep their own.
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_1(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_2(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_3(%{{.*}}) dims()
module {
  func.func @main(%x0: tensor<768xf32>, %x1: tensor<768xf32>, %x2: tensor<768xf32>, %x3: tensor<768xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %2 = gantry.dispatch @kernel_2(%x2) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %3 = gantry.dispatch @kernel_3(%x3) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 24 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 24 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 8 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=5 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 24 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
  module @kernel_3 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_3(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 24 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.mulf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
}

// -----

// Some devices must cut a dispatch of the large tensors into slices, so these kernels keep them.
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_1(%{{.*}}) dims()
module {
  func.func @main(%x0: tensor<40000000xf32>, %x1: tensor<40000000xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<40000000xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<40000000xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [96, 4]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 24 : index
      %stride = arith.constant 96 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [112, 4]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %trips = arith.constant 28 : index
      %stride = arith.constant 112 : index
      %divisor = arith.constant 7 : index
      %row = arith.divui %g, %divisor : index
      %start = arith.muli %row, %stride : index
      %sum = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %zero) -> f32 {
        %at = arith.addi %start, %i : index
        %v = memref.load %x[%at] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %y[%row] : memref<?xf32>
      return
    }
  }
}

// -----

// The push constants of every device have room for 14 arguments beside the addresses of two buffers; these kernels
// would need 15.
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_1(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_2(%{{.*}}) dims()
module {
  func.func @main(%x0: tensor<768xf32>, %x1: tensor<768xf32>, %x2: tensor<768xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %2 = gantry.dispatch @kernel_2(%x2) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %a0 = arith.constant 2 : index
      %b0 = arith.addi %g, %a0 : index
      %a1 = arith.constant 3 : index
      %b1 = arith.addi %b0, %a1 : index
      %a2 = arith.constant 5 : index
      %b2 = arith.addi %b1, %a2 : index
      %a3 = arith.constant 7 : index
      %b3 = arith.addi %b2, %a3 : index
      %a4 = arith.constant 11 : index
      %b4 = arith.addi %b3, %a4 : index
      %a5 = arith.constant 13 : index
      %b5 = arith.addi %b4, %a5 : index
      %a6 = arith.constant 17 : index
      %b6 = arith.addi %b5, %a6 : index
      %a7 = arith.constant 19 : index
      %b7 = arith.addi %b6, %a7 : index
      %a8 = arith.constant 23 : index
      %b8 = arith.addi %b7, %a8 : index
      %a9 = arith.constant 29 : index
      %b9 = arith.addi %b8, %a9 : index
      %a10 = arith.constant 31 : index
      %b10 = arith.addi %b9, %a10 : index
      %a11 = arith.constant 37 : index
      %b11 = arith.addi %b10, %a11 : index
      %a12 = arith.constant 41 : index
      %b12 = arith.addi %b11, %a12 : index
      %a13 = arith.constant 43 : index
      %b13 = arith.addi %b12, %a13 : index
      %a14 = arith.constant 47 : index
      %b14 = arith.addi %b13, %a14 : index
      %v = memref.load %x[%b14] : memref<?xf32>
      memref.store %v, %y[%b14] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %a0 = arith.constant 3 : index
      %b0 = arith.addi %g, %a0 : index
      %a1 = arith.constant 4 : index
      %b1 = arith.addi %b0, %a1 : index
      %a2 = arith.constant 6 : index
      %b2 = arith.addi %b1, %a2 : index
      %a3 = arith.constant 8 : index
      %b3 = arith.addi %b2, %a3 : index
      %a4 = arith.constant 12 : index
      %b4 = arith.addi %b3, %a4 : index
      %a5 = arith.constant 14 : index
      %b5 = arith.addi %b4, %a5 : index
      %a6 = arith.constant 18 : index
      %b6 = arith.addi %b5, %a6 : index
      %a7 = arith.constant 20 : index
      %b7 = arith.addi %b6, %a7 : index
      %a8 = arith.constant 24 : index
      %b8 = arith.addi %b7, %a8 : index
      %a9 = arith.constant 30 : index
      %b9 = arith.addi %b8, %a9 : index
      %a10 = arith.constant 32 : index
      %b10 = arith.addi %b9, %a10 : index
      %a11 = arith.constant 38 : index
      %b11 = arith.addi %b10, %a11 : index
      %a12 = arith.constant 42 : index
      %b12 = arith.addi %b11, %a12 : index
      %a13 = arith.constant 44 : index
      %b13 = arith.addi %b12, %a13 : index
      %a14 = arith.constant 48 : index
      %b14 = arith.addi %b13, %a14 : index
      %v = memref.load %x[%b14] : memref<?xf32>
      memref.store %v, %y[%b14] : memref<?xf32>
      return
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %a0 = arith.constant 4 : index
      %b0 = arith.addi %g, %a0 : index
      %a1 = arith.constant 6 : index
      %b1 = arith.addi %b0, %a1 : index
      %a2 = arith.constant 9 : index
      %b2 = arith.addi %b1, %a2 : index
      %a3 = arith.constant 12 : index
      %b3 = arith.addi %b2, %a3 : index
      %a4 = arith.constant 17 : index
      %b4 = arith.addi %b3, %a4 : index
      %a5 = arith.constant 20 : index
      %b5 = arith.addi %b4, %a5 : index
      %a6 = arith.constant 25 : index
      %b6 = arith.addi %b5, %a6 : index
      %a7 = arith.constant 28 : index
      %b7 = arith.addi %b6, %a7 : index
      %a8 = arith.constant 33 : index
      %b8 = arith.addi %b7, %a8 : index
      %a9 = arith.constant 40 : index
      %b9 = arith.addi %b8, %a9 : index
      %a10 = arith.constant 43 : index
      %b10 = arith.addi %b9, %a10 : index
      %a11 = arith.constant 50 : index
      %b11 = arith.addi %b10, %a11 : index
      %a12 = arith.constant 55 : index
      %b12 = arith.addi %b11, %a12 : index
      %a13 = arith.constant 58 : index
      %b13 = arith.addi %b12, %a13 : index
      %a14 = arith.constant 63 : index
      %b14 = arith.addi %b13, %a14 : index
      %v = memref.load %x[%b14] : memref<?xf32>
      memref.store %v, %y[%b14] : memref<?xf32>
      return
    }
  }
}

// -----

// The argument is never negative: the factor is -4 where the constants fall, and the base is -4 where they rise.
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%c0{{.*}})
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%c1{{.*}})
// CHECK: gantry.dispatch @kernel_2(%{{.*}}) dims(%c0{{.*}})
// CHECK: gantry.dispatch @kernel_2(%{{.*}}) dims(%c1{{.*}})
// CHECK-LABEL: module @kernel_0
// CHECK: func.func @kernel_0({{.*}}, %[[N:.*]]: index {gantry.binding = #gantry.binding<dim[0]>})
// CHECK: %[[FACTOR:.*]] = arith.constant -4 : index
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[N]], %[[FACTOR]] : index
// CHECK: arith.addi %[[PRODUCT]], %c-4{{.*}} : index
// CHECK-LABEL: module @kernel_2
// CHECK: func.func @kernel_2({{.*}}, %[[N:.*]]: index {gantry.binding = #gantry.binding<dim[0]>})
// CHECK: %[[FACTOR:.*]] = arith.constant 8 : index
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[N]], %[[FACTOR]] : index
// CHECK: arith.addi %[[PRODUCT]], %c-4{{.*}} : index
module {
  func.func @main(%x0: tensor<768xf32>, %x1: tensor<768xf32>, %x2: tensor<768xf32>, %x3: tensor<768xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %2 = gantry.dispatch @kernel_2(%x2) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %3 = gantry.dispatch @kernel_3(%x3) dims() {operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant -4 : index
      %at = arith.addi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant -8 : index
      %at = arith.addi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant -4 : index
      %at = arith.subi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_3 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_3(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant 4 : index
      %at = arith.subi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
}

// -----

// The tensors are small, but they lie in larger ones, which some devices cannot bind as a whole.
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims()
// CHECK: gantry.dispatch @kernel_1(%{{.*}}) dims()
module {
  func.func @main(%x0: tensor<768xf32>, %x1: tensor<768xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims() {layouts = [#gantry.layout<[], within = [40000000]>, #gantry.layout<[]>], operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims() {layouts = [#gantry.layout<[], within = [40000000]>, #gantry.layout<[]>], operand_dims = array<i64>, result_dims = array<i64>} : (tensor<768xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [96, 4]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant 4 : index
      %at = arith.addi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2>, gantry.slices = #gantry.slices<workgroups = 1, bytes = [112, 4]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant 8 : index
      %at = arith.addi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
}

// -----

// A kernel with a dynamic size: the new argument is dim 1. Loops that depend on the size must have equal rounds.
// CHECK-LABEL: func.func @main
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%[[N:.*]], %{{.*}})
// CHECK: gantry.dispatch @kernel_0(%{{.*}}) dims(%[[N]], %{{.*}})
// CHECK: gantry.dispatch @kernel_2(%{{.*}}) dims(%[[N]])
// CHECK-LABEL: module @kernel_0
// CHECK: %{{.*}}: index {gantry.binding = #gantry.binding<dim[1]>})
// CHECK-SAME: dims = 2
module {
  func.func @main(%x0: tensor<?xf32>, %x1: tensor<?xf32>, %x2: tensor<?xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = gantry.dispatch @kernel_0(%x0) dims(%n) {operand_dims = array<i64: 0>, result_dims = array<i64>} : (tensor<?xf32>, index) -> tensor<8xf32>
    %1 = gantry.dispatch @kernel_1(%x1) dims(%n) {operand_dims = array<i64: 0>, result_dims = array<i64>} : (tensor<?xf32>, index) -> tensor<8xf32>
    %2 = gantry.dispatch @kernel_2(%x2) dims(%n) {operand_dims = array<i64: 0>, result_dims = array<i64>} : (tensor<?xf32>, index) -> tensor<8xf32>
    return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, dims = 1, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2, dims = [0]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant 4 : index
      %at = arith.addi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, dims = 1, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 2, dims = [0]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant 8 : index
      %at = arith.addi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>}, %y: memref<?xf32> {gantry.binding = #gantry.binding<buffer[1]>}, %g: index {gantry.binding = #gantry.binding<workgroup_x>})
        attributes {gantry.launch = #gantry.launch<buffers = 2, dims = 1, workgroup_size = 64>, gantry.loops = #gantry.loops<rounds = 3, dims = [0]>, gantry.tile = #gantry.tile<kind = baseline, extents = [4], merged = 1, text = "4 points", exact = "points=4 steps=-">} {
      %c = arith.constant 12 : index
      %at = arith.addi %g, %c : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%g] : memref<?xf32>
      return
    }
  }
}

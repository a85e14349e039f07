// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(builtin.module(emit-kernels,cse,loop-invariant-code-motion,cse))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// An elementwise kernel loads and stores vec4.
// CHECK-LABEL: module @kernel_0
// CHECK: func.func @kernel_0(%[[X:.*]]: memref<?xvector<4xf32>{{.*}}> {gantry.binding = #gantry.binding<buffer[0]>}, %[[Y:.*]]: memref<?xvector<4xf32>{{.*}}> {gantry.binding = #gantry.binding<buffer[1]>}
// CHECK: memref.load %[[X]]
// CHECK-COUNT-4: arith.negf
// CHECK: memref.store %{{.*}}, %[[Y]]
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {gantry.signature = #gantry.signature} {
      %e = tensor.empty() : tensor<4096xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
      ^bb0(%p: f32, %o: f32):
        %v = arith.negf %p : f32
        linalg.yield %v : f32
      } -> tensor<4096xf32>
      return %0 : tensor<4096xf32>
    }
  }
}

// -----

// A pad becomes a predicate, not a copy: for an element of the border, the load reads an element inside the
// tensor, and a select replaces its value.
// CHECK-LABEL: module @kernel_0
// CHECK: arith.cmpi sge
// CHECK: %[[SAFE:.*]] = arith.select
// CHECK: memref.load %{{.*}}[%[[SAFE]]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<7xf32>) -> tensor<9xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %0 = tensor.pad %x low[1] high[1] {
      ^bb0(%i: index):
        tensor.yield %z : f32
      } : tensor<7xf32> to tensor<9xf32>
      return %0 : tensor<9xf32>
    }
  }
}

// -----

#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m)>

// A long sum is computed in blocks by two loops. The sum of a block is added to the outer accumulator.
// CHECK-LABEL: module @kernel_0
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: arith.addf
// CHECK: scf.yield
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<512x8192xf32>) -> tensor<512xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<512xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
      %0 = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<512x8192xf32>) outs(%f : tensor<512xf32>) {
      ^bb0(%p: f32, %acc: f32):
        %v = arith.addf %acc, %p : f32
        linalg.yield %v : f32
      } -> tensor<512xf32>
      return %0 : tensor<512xf32>
    }
  }
}

// -----

#id = affine_map<(d0) -> (d0)>

// With dynamic sizes, a comparison excludes the invocations beyond the last tile.
// CHECK-LABEL: module @kernel_0
// CHECK: %[[N:.*]]: index {gantry.binding = #gantry.binding<dim[0]>}
// CHECK: arith.cmpi ult
// CHECK: scf.if
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {gantry.signature = #gantry.signature<operand_dims = [0], result_dims = [0]>} {
      %e = tensor.empty(%n) : tensor<?xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%p: f32, %o: f32):
        %v = arith.negf %p : f32
        linalg.yield %v : f32
      } -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
  }
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe},cse,loop-invariant-code-motion,cse))' | FileCheck %s
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe},cse,loop-invariant-code-motion,cse,convert-kernels-to-spirv,bind-buffers,spirv.module(spirv-update-vce)))' | FileCheck %s --check-prefix=BIND

#from = affine_map<(m, n) -> (n, m)>
#id = affine_map<(m, n) -> (m, n)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The rows of the result begin at addresses with different remainders modulo four. Rows that are
// four apart have the same remainder, so each row of a tile stores vectors through the view for its
// remainder. The last vector of a row is stored element by element, in a loop that has no rounds in
// other invocations. Four neighbours of the result are in four rows of the operand, so the vectors of
// a row are loaded only if the row exists.
// CHECK-LABEL: func.func @kernel_0_texel(
// CHECK-SAME: %[[ALIGNED:[a-z0-9]+]]: memref<?xvector<4xf32>, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[1]>}
// CHECK-SAME: %[[AT1:[a-z0-9]+]]: memref<?xvector<4xf32>, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[1] skipped = 1>}
// CHECK-SAME: %[[AT2:[a-z0-9]+]]: memref<?xvector<4xf32>, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[1] skipped = 2>}
// CHECK-SAME: %[[AT3:[a-z0-9]+]]: memref<?xvector<4xf32>, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[1] skipped = 3>}
// CHECK: %[[INSIDE:.*]] = arith.cmpi sge, %{{.*}}, %c0
// CHECK: %[[AT:.*]] = arith.select %[[INSIDE]], %{{.*}}, %c0
// CHECK: memref.load %{{.*}}[%[[AT]]] : memref<?xvector<4xf32>
// CHECK-DAG: memref.store %{{.*}}, %[[ALIGNED]][
// CHECK-DAG: memref.store %{{.*}}, %[[AT1]][
// CHECK-DAG: memref.store %{{.*}}, %[[AT2]][
// CHECK-DAG: memref.store %{{.*}}, %[[AT3]][
// CHECK: %[[ROUNDS:.*]] = arith.select %{{.*}}, %c0{{.*}}, %c4
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[ROUNDS]]
// CHECK: memref.store %{{.*}} : memref<?xf32

// A vector at an even element is two words of 64 bits; at an odd element it is four floats.
// BIND: gantry.buffers = #gantry.buffers<mode = texel,
// BIND-DAG: spirv.GlobalVariable @buffer1_vec4_at1 bind(0, 1) {aliased} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<4xf32>, stride=16> [4])>
// BIND-DAG: spirv.GlobalVariable @buffer1_vec4_at2 bind(0, 1) {aliased} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<2xi64>, stride=16> [8])>
// BIND-DAG: spirv.GlobalVariable @buffer1_vec4_at3 bind(0, 1) {aliased} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<4xf32>, stride=16> [12])>
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%x: tensor<511x1023xf32>) -> tensor<1023x511xf32> attributes {gantry.signature = #gantry.signature} {
      %e = tensor.empty() : tensor<1023x511xf32>
      %0 = linalg.generic {indexing_maps = [#from, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<511x1023xf32>) outs(%e : tensor<1023x511xf32>) {
      ^bb0(%p: f32, %o: f32):
        linalg.yield %p : f32
      } -> tensor<1023x511xf32>
      return %0 : tensor<1023x511xf32>
    }
  }

  // The last element of a row is padding. It is loaded with its neighbours, and replaced by zero.
  // CHECK-LABEL: func.func @kernel_1_texel(
  // CHECK-NOT: memref.load {{.*}} : memref<?xf32
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
  // CHECK-NOT: memref.load {{.*}} : memref<?xf32
  // CHECK: return
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%x: tensor<256x255xf32>) -> tensor<256x256xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %0 = tensor.pad %x low[0, 0] high[0, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %z : f32
      } : tensor<256x255xf32> to tensor<256x256xf32>
      return %0 : tensor<256x256xf32>
    }
  }

  // A round of the loop computes four steps of the sum, and three steps follow the last round. Four rows of the right
  // operand begin at all remainders modulo four, so vectors are loaded at known remainders and no element alone.
  // CHECK-LABEL: func.func @kernel_2_texel(
  // CHECK-SAME: reduction unrolled 4
  // CHECK-NOT: memref.load {{.*}} : memref<?xf32
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c15
  // CHECK: scf.yield
  // CHECK: memref.load {{.*}} : memref<?xvector<4xf32>
  // CHECK: arith.mulf
  // CHECK-NOT: scf.yield
  // CHECK: memref.store
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: tensor<64x63xf32>, %w: tensor<63x63xf32>) -> tensor<64x63xf32> attributes {gantry.signature = #gantry.signature} {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x63xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x63xf32>) -> tensor<64x63xf32>
      %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x63xf32>, tensor<63x63xf32>) outs(%f : tensor<64x63xf32>) {
      ^bb0(%p: f32, %q: f32, %acc: f32):
        %1 = arith.mulf %p, %q : f32
        %2 = arith.addf %acc, %1 : f32
        linalg.yield %2 : f32
      } -> tensor<64x63xf32>
      return %0 : tensor<64x63xf32>
    }
  }
}

// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:lavapipe},cse,loop-invariant-code-motion,cse))' | FileCheck %s

#c = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>
#f = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#r = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
#both = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// The batch is known only when the kernel runs. The index of the batch is always inside, so the only guards are those of
// the border, which are applied to vectors before the lanes exchange their elements.
// CHECK-LABEL: func.func @batch_texel
// CHECK-SAME: kind = texel
// CHECK-NOT: dim_multiples
// CHECK: arith.select {{.*}} : vector<4xf32>
// CHECK-NOT: arith.select {{.*}}, %cst{{[_0-9]*}} : f32
// CHECK: memref.store {{.*}}xvector<4xf32>
//
// The width is known only when the kernel runs. Rows of an unknown width begin anywhere, so elements of the bias are read one
// by one. An alternative for widths that are multiples of four, dim 0, reads vectors of the bias.
// CHECK-LABEL: func.func @bias(
// CHECK-LABEL: func.func @bias_texel
// CHECK-SAME: %[[BIAS:arg[0-9]+]]: memref<?xf32, {{[^,]*}}> {gantry.binding = #gantry.binding<buffer[1]>}
// CHECK-NOT: dim_multiples
// CHECK: memref.load %[[BIAS]]
// CHECK: func.func @bias_texel{{.*}} dim_multiples = [4]
// CHECK-NOT: memref.load {{.*}} : memref<?xf32,
module {
  module @batch attributes {gantry.kernel = #gantry.kernel} {
    func.func @batch(%x: tensor<?x64x56x56xf32>, %w: tensor<64x64x3x3xf32>, %n: index) -> tensor<?x64x56x56xf32> attributes {gantry.signature = #gantry.signature<operand_dims = [0], result_dims = [0]>} {
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb0(%0: index, %1: index, %2: index, %3: index):
        tensor.yield %z : f32
      } : tensor<?x64x56x56xf32> to tensor<?x64x58x58xf32>
      %e = tensor.empty(%n) : tensor<?x64x56x56xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x64x56x56xf32>) -> tensor<?x64x56x56xf32>
      %r = linalg.generic {indexing_maps = [#c, #f, #r], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %w : tensor<?x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%i : tensor<?x64x56x56xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %1 = arith.mulf %a, %b : f32
        %2 = arith.addf %o, %1 : f32
        linalg.yield %2 : f32
      } -> tensor<?x64x56x56xf32>
      return %r : tensor<?x64x56x56xf32>
    }
  }
  module @bias attributes {gantry.kernel = #gantry.kernel} {
    func.func @bias(%x: tensor<512x?xf32>, %b: tensor<?xf32>, %w: index) -> tensor<512x?xf32> attributes {gantry.signature = #gantry.signature<operand_dims = [0, 0], result_dims = [0]>} {
      %e = tensor.empty(%w) : tensor<512x?xf32>
      %r = linalg.generic {indexing_maps = [#both, #column, #both], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<512x?xf32>, tensor<?xf32>) outs(%e : tensor<512x?xf32>) {
      ^bb0(%a: f32, %c: f32, %o: f32):
        %1 = arith.addf %a, %c : f32
        linalg.yield %1 : f32
      } -> tensor<512x?xf32>
      return %r : tensor<512x?xf32>
    }
  }
}

// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:dot-products},cse))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:generic},cse))' | FileCheck %s --check-prefix=PLAIN
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(builtin.module(emit-kernels{profile=vulkan:dot-products},cse,convert-kernels-to-spirv,bind-buffers))' | FileCheck %s --check-prefix=BIND

// PLAIN-NOT: spirv.SDot

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k floordiv 4, n, k mod 4)>
#c = affine_map<(m, n, k) -> (m, n)>

// The dots variant loads words of four bytes and subtracts the zero point 128 from unsigned bytes by an
// xor. The baseline has no dot products.
// CHECK-LABEL: func.func @kernel_0(
// CHECK-NOT: spirv.SDot
// CHECK-LABEL: func.func @kernel_0_dots(
// CHECK-SAME: kind = dots, grid = 1
// CHECK-SAME: exact = "points={{.*}} dots"
// CHECK-NOT: memref<?xi8
// CHECK-NOT: arith.trunci
// CHECK: %[[HIGH:.*]] = arith.constant -2139062144 : i32
// CHECK: %[[A:.*]] = arith.xori %{{.*}}, %[[HIGH]] : i32
// CHECK: %[[DOT:.*]] = spirv.SDot %[[A]], %{{.*}}, <PackedVectorFormat4x8Bit> : i32 -> i32
// CHECK: arith.addi %{{.*}}, %[[DOT]] : i32
// CHECK-NOT: arith.subi
// BIND: spirv.module {{.*}}kind = baseline
// BIND-NOT: spirv.SDot
// BIND: spirv.module {{.*}}kind = dots
// BIND: spirv.SDot {{.*}}, <PackedVectorFormat4x8Bit> : i32 -> i32
module {
  module @kernel_0 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_0(%a: tensor<8x16xi8>, %b: tensor<4x12x4xi8>) -> tensor<8x12xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<8x12xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<8x12xi32>) -> tensor<8x12xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<8x16xi8>, tensor<4x12x4xi8>) outs(%init : tensor<8x12xi32>) {
      ^bb0(%x: i8, %w: i8, %acc: i32):
        %middle = arith.constant 128 : i32
        %0 = arith.extui %x : i8 to i32
        %1 = arith.subi %0, %middle : i32
        %2 = arith.extsi %w : i8 to i32
        %3 = arith.muli %1, %2 : i32
        %4 = arith.addi %acc, %3 : i32
        linalg.yield %4 : i32
      } -> tensor<8x12xi32>
      return %r : tensor<8x12xi32>
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#s = affine_map<(m, n, k) -> ()>
#c = affine_map<(m, n, k) -> (m, n)>

// One zero point is a constant, and one is an input. The sums of bytes that they are multiplied by are
// dot products with four ones. Bytes that are not adjacent are combined into words first.
// CHECK-LABEL: func.func @kernel_1(
// CHECK-LABEL: func.func @kernel_1_dots(
// CHECK: arith.ori
// CHECK: %[[INPUT:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: %[[ONES:.*]] = arith.constant 16843009 : i32
// CHECK: %[[A:.*]] = spirv.SDot %{{.*}}, %[[ONES]]
// CHECK: spirv.SDot %{{.*}}, %[[ONES]]
// CHECK: %[[B:.*]] = spirv.SDot %{{.*}}, %[[ONES]]
// CHECK: %[[CONSTANT:.*]] = arith.constant -5 : i32
// CHECK: %[[BY_CONSTANT:.*]] = arith.muli %[[B]], %[[CONSTANT]] : i32
// CHECK: %[[BY_INPUT:.*]] = arith.muli %[[A]], %[[INPUT]] : i32
// CHECK: arith.subi %{{.*}}, %[[BY_INPUT]] : i32
// CHECK: arith.subi %{{.*}}, %[[BY_CONSTANT]] : i32
module {
  module @kernel_1 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_1(%a: tensor<3x8xi8>, %b: tensor<8x5xi8>, %z: tensor<i8>) -> tensor<3x5xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<3x5xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<3x5xi32>) -> tensor<3x5xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #s, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b, %z : tensor<3x8xi8>, tensor<8x5xi8>, tensor<i8>) outs(%init : tensor<3x5xi32>) {
      ^bb0(%x: i8, %w: i8, %q: i8, %acc: i32):
        %five = arith.constant -5 : i32
        %0 = arith.extsi %x : i8 to i32
        %1 = arith.subi %0, %five : i32
        %2 = arith.extsi %w : i8 to i32
        %3 = arith.extsi %q : i8 to i32
        %4 = arith.subi %2, %3 : i32
        %5 = arith.muli %1, %4 : i32
        %6 = arith.addi %acc, %5 : i32
        linalg.yield %6 : i32
      } -> tensor<3x5xi32>
      return %r : tensor<3x5xi32>
    }
  }
}

// -----

#x = affine_map<(o, w, c, r) -> (c, w + r)>
#f = affine_map<(o, w, c, r) -> (r, c floordiv 4, o, c mod 4)>
#y = affine_map<(o, w, c, r) -> (o, w)>

// An image in blocks of four channels is padded by whole words.
// CHECK-LABEL: func.func @kernel_2(
// CHECK-LABEL: func.func @kernel_2_dots(
// CHECK-NOT: memref<?xi8
// CHECK: %[[OUTSIDE:.*]] = arith.constant 117901063 : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[OUTSIDE]] : i32
// CHECK: spirv.SDot
module {
  module @kernel_2 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_2(%x: tensor<8x16xi8>, %f: tensor<3x2x6x4xi8>) -> tensor<6x16xi32> attributes {
        gantry.signature = #gantry.signature<layouts = [<[0, 4, 1, 1, 0, 1]>, <[]>, <[]>]>} {
      %pad = arith.constant 7 : i8
      %p = tensor.pad %x low[0, 1] high[0, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %pad : i8
      } : tensor<8x16xi8> to tensor<8x18xi8>
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<6x16xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<6x16xi32>) -> tensor<6x16xi32>
      %r = linalg.generic {indexing_maps = [#x, #f, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%p, %f : tensor<8x18xi8>, tensor<3x2x6x4xi8>) outs(%init : tensor<6x16xi32>) {
      ^bb0(%v: i8, %w: i8, %acc: i32):
        %0 = arith.extsi %v : i8 to i32
        %1 = arith.extsi %w : i8 to i32
        %2 = arith.muli %0, %1 : i32
        %3 = arith.addi %acc, %2 : i32
        linalg.yield %3 : i32
      } -> tensor<6x16xi32>
      return %r : tensor<6x16xi32>
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The reduction has nine steps, which do not divide into groups of four.
// CHECK-LABEL: func.func @kernel_3(
// CHECK-NOT: spirv.SDot
// CHECK-NOT: @kernel_3_dots
module {
  module @kernel_3 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_3(%a: tensor<4x9xi8>, %b: tensor<9x4xi8>) -> tensor<4x4xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<4x4xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x9xi8>, tensor<9x4xi8>) outs(%init : tensor<4x4xi32>) {
      ^bb0(%x: i8, %w: i8, %acc: i32):
        %0 = arith.extsi %x : i8 to i32
        %1 = arith.extsi %w : i8 to i32
        %2 = arith.muli %0, %1 : i32
        %3 = arith.addi %acc, %2 : i32
        linalg.yield %3 : i32
      } -> tensor<4x4xi32>
      return %r : tensor<4x4xi32>
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#z = affine_map<(m, n, k) -> (k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Each step of the reduction has its own zero point, which cannot be moved out of the sum.
// CHECK-LABEL: func.func @kernel_4(
// CHECK-NOT: spirv.SDot
// CHECK-NOT: @kernel_4_dots
module {
  module @kernel_4 attributes {gantry.kernel = #gantry.kernel} {
    func.func @kernel_4(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %z: tensor<8xi8>) -> tensor<4x4xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<4x4xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #z, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b, %z : tensor<4x8xi8>, tensor<8x4xi8>, tensor<8xi8>) outs(%init : tensor<4x4xi32>) {
      ^bb0(%x: i8, %w: i8, %q: i8, %acc: i32):
        %0 = arith.extsi %x : i8 to i32
        %1 = arith.extsi %q : i8 to i32
        %2 = arith.subi %0, %1 : i32
        %3 = arith.extsi %w : i8 to i32
        %4 = arith.muli %2, %3 : i32
        %5 = arith.addi %acc, %4 : i32
        linalg.yield %5 : i32
      } -> tensor<4x4xi32>
      return %r : tensor<4x4xi32>
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A tile with dot products from a tuning table (docs/tuning.md) is taken if its steps of the
// reduction divide into groups of four and the profile has dot products.
// CHECK-LABEL: func.func @kernel_5_dots(
// CHECK-SAME: gantry.remarks = #gantry.remarks<["measured: here"]>
// CHECK-SAME: kind = dots, {{.*}}exact = "points=2x2 steps=8 dots"
// PLAIN-LABEL: func.func @kernel_5(
// PLAIN-SAME: not taken: the profile has no tiles of that kind
module {
  module @kernel_5 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = dots, tile = "points=2x2 steps=8 dots", origin = "here">>} {
    func.func @kernel_5(%a: tensor<4x8xi8>, %b: tensor<4x8xi8>) -> tensor<4x4xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<4x4xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x8xi8>, tensor<4x8xi8>) outs(%init : tensor<4x4xi32>) {
      ^bb0(%x: i8, %w: i8, %acc: i32):
        %0 = arith.extsi %x : i8 to i32
        %1 = arith.extsi %w : i8 to i32
        %2 = arith.muli %0, %1 : i32
        %3 = arith.addi %acc, %2 : i32
        linalg.yield %3 : i32
      } -> tensor<4x4xi32>
      return %r : tensor<4x4xi32>
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @kernel_6(
// CHECK-SAME: not taken: dot products need sums of int8 products and a multiple of four steps
module {
  module @kernel_6 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = dots, tile = "points=2x2 steps=2 dots", origin = "here">>} {
    func.func @kernel_6(%a: tensor<4x8xi8>, %b: tensor<4x8xi8>) -> tensor<4x4xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<4x4xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x8xi8>, tensor<4x8xi8>) outs(%init : tensor<4x4xi32>) {
      ^bb0(%x: i8, %w: i8, %acc: i32):
        %0 = arith.extsi %x : i8 to i32
        %1 = arith.extsi %w : i8 to i32
        %2 = arith.muli %0, %1 : i32
        %3 = arith.addi %acc, %2 : i32
        linalg.yield %3 : i32
      } -> tensor<4x4xi32>
      return %r : tensor<4x4xi32>
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @kernel_7(
// CHECK-SAME: not taken: a tile of this kind has no dot products
module {
  module @kernel_7 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = baseline, tile = "points=2x2 steps=4 dots", origin = "here">>} {
    func.func @kernel_7(%a: tensor<4x8xi8>, %b: tensor<4x8xi8>) -> tensor<4x4xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<4x4xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x8xi8>, tensor<4x8xi8>) outs(%init : tensor<4x4xi32>) {
      ^bb0(%x: i8, %w: i8, %acc: i32):
        %0 = arith.extsi %x : i8 to i32
        %1 = arith.extsi %w : i8 to i32
        %2 = arith.muli %0, %1 : i32
        %3 = arith.addi %acc, %2 : i32
        linalg.yield %3 : i32
      } -> tensor<4x4xi32>
      return %r : tensor<4x4xi32>
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @kernel_8(
// CHECK-SAME: not taken: a tile of the kind dots needs the word dots
module {
  module @kernel_8 attributes {gantry.kernel = #gantry.kernel<
      measured = <kind = dots, tile = "points=2x2 steps=4", origin = "here">>} {
    func.func @kernel_8(%a: tensor<4x8xi8>, %b: tensor<4x8xi8>) -> tensor<4x4xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<4x4xi32>
      %init = linalg.fill ins(%zero : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
      %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x8xi8>, tensor<4x8xi8>) outs(%init : tensor<4x4xi32>) {
      ^bb0(%x: i8, %w: i8, %acc: i32):
        %0 = arith.extsi %x : i8 to i32
        %1 = arith.extsi %w : i8 to i32
        %2 = arith.muli %0, %1 : i32
        %3 = arith.addi %acc, %2 : i32
        linalg.yield %3 : i32
      } -> tensor<4x4xi32>
      return %r : tensor<4x4xi32>
    }
  }
}

// RUN: gantry-opt %s --split-reductions | FileCheck %s
// RUN: gantry-opt %s --split-reductions="invocations=2000" | FileCheck %s --check-prefix=SHARED

#x2 = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#x4 = affine_map<(c, h, w) -> (c, h, w)>
#c = affine_map<(c, h, w) -> (c)>

// The number of the loop's steps, 100,003, has no suitable divisor. The loop is divided into 25
// parts of 4,001 steps; the 22 steps of padding are not added.
// CHECK-LABEL: func.func @prime(
// CHECK: %[[PAD:.*]] = tensor.pad %{{.*}} low[0, 0] high[0, 22]
// CHECK: %[[PARTS:.*]] = tensor.expand_shape %[[PAD]] {{.*}} tensor<2x25x4001xf32>
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]{{.*}} ins(%[[PARTS]] : tensor<2x25x4001xf32>) outs(%{{.*}} : tensor<2x25xf32>)
// CHECK: linalg.index 2
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[FIRST]] : tensor<2x25xf32>)
func.func @prime(%x: tensor<2x100003xf32>) -> tensor<2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#x2, #m], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x100003xf32>) outs(%i : tensor<2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// One of the two reduction loops becomes the loop of a second reduction, and nothing is padded. A
// maximum starts at its neutral element.
// CHECK-LABEL: func.func @image(
// CHECK-NOT: tensor.pad
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<3x331xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[FIRST]] : tensor<3x331xf32>)
func.func @image(%x: tensor<3x331x331xf32>, %i: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [#x4, #c], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<3x331x331xf32>) outs(%i : tensor<3xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Two loops of unknown extent are divided into two reductions.
// CHECK-LABEL: func.func @dynamic(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x?xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3xf32>)
func.func @dynamic(%x: tensor<3x?x?xf32>, %i: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [#x4, #c], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<3x?x?xf32>) outs(%i : tensor<3xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Short reductions are not changed.
// CHECK-LABEL: func.func @short(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @short(%x: tensor<2x32768xf32>, %i: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.generic {indexing_maps = [#x2, #m], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x32768xf32>) outs(%i : tensor<2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// A convolution whose result has few points keeps more invocations busy if its channels are divided. The parts
// are the first dimension of the first result; the second reduction adds them.
// SHARED-LABEL: func.func @few_points(
// SHARED: %[[PARTS:.*]] = tensor.expand_shape %{{.*}} {{.*}} tensor<8x64x9x9xf32>
// SHARED: %[[FIRST:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<8x64x7x7xf32>)
// SHARED: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel", "parallel"]{{.*}} ins(%[[FIRST]] : tensor<8x64x7x7xf32>)
// CHECK-LABEL: func.func @few_points(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @few_points(%x: tensor<512x9x9xf32>, %w: tensor<64x512x3x3xf32>) -> tensor<64x7x7xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x7x7xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<64x7x7xf32>) -> tensor<64x7x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(o, h, w, c, y, x) -> (c, h + y, w + x)>, affine_map<(o, h, w, c, y, x) -> (o, c, y, x)>, affine_map<(o, h, w, c, y, x) -> (o, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<512x9x9xf32>, tensor<64x512x3x3xf32>) outs(%i : tensor<64x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x7x7xf32>
  return %r : tensor<64x7x7xf32>
}

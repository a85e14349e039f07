// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,strips{min-bytes=0 min-rows=4 min-elements=0 dispatch-cost=7900}))' | FileCheck %s
// RUN: gantry-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse,strips))' | FileCheck %s --check-prefix=SMALL

// A convolution, its activation and a pool are computed in four strips of rows. Only the first and the last strip
// pad the rows.
// CHECK-LABEL: func @padded
// CHECK-SAME: gantry.strips = #gantry.strips<chains = [<first = "Conv_2", last = "MaxPool_4", count = 4, saved_bytes = 49152, operations = 0>], model_operations =
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 0] [1, 8, 9, 32]
// CHECK: tensor.pad {{.*}} low[0, 0, 1, 1] high[0, 0, 0, 1]
// CHECK: linalg.generic
// CHECK: %[[A:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x16x4x16xf32>)
// CHECK: tensor.extract_slice %arg0[0, 0, 7, 0] [1, 8, 10, 32]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1] high[0, 0, 0, 1]
// CHECK: tensor.extract_slice %arg0[0, 0, 15, 0] [1, 8, 10, 32]
// CHECK: tensor.extract_slice %arg0[0, 0, 23, 0] [1, 8, 9, 32]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1] high[0, 0, 1, 1]
// CHECK: tensor.concat dim(2) %[[A]],
// SMALL-LABEL: func @padded
// SMALL-NOT: tensor.extract_slice
// SMALL-NOT: gantry.strips
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#window = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#strided = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>
#filter = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#sum = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#half = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
#taps = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#max = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @padded(%x: tensor<1x8x32x32xf32>, %f: tensor<16x8x3x3xf32>) -> tensor<1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p1 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x8x32x32xf32> to tensor<1x8x34x34xf32>
  %ce2 = tensor.empty() : tensor<1x16x32x32xf32>
  %ci2 = linalg.fill ins(%zero : f32) outs(%ce2 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %c2 = linalg.generic {indexing_maps = [#window, #filter, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p1, %f : tensor<1x8x34x34xf32>, tensor<16x8x3x3xf32>) outs(%ci2 : tensor<1x16x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x16x32x32xf32> loc("Conv_2")
  %re3 = tensor.empty() : tensor<1x16x32x32xf32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c2 : tensor<1x16x32x32xf32>) outs(%re3 : tensor<1x16x32x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<1x16x32x32xf32> loc("Relu_3")
  %w4 = tensor.empty() : tensor<2x2xf32>
  %pe4 = tensor.empty() : tensor<1x16x16x16xf32>
  %pi4 = linalg.fill ins(%low : f32) outs(%pe4 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %y4 = linalg.generic {indexing_maps = [#half, #taps, #max], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%r3, %w4 : tensor<1x16x32x32xf32>, tensor<2x2xf32>) outs(%pi4 : tensor<1x16x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<1x16x16x16xf32> loc("MaxPool_4")
  %te5 = tensor.empty() : tensor<1x16xf32>
  %ti5 = linalg.fill ins(%zero : f32) outs(%te5 : tensor<1x16xf32>) -> tensor<1x16xf32>
  %t5 = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%y4 : tensor<1x16x16x16xf32>) outs(%ti5 : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32> loc("Sum_5")
  return %t5 : tensor<1x16xf32>
}

// -----

// A convolution with stride 2 and a pool of overlapping windows: each strip but the first computes
// again a row that the strip before it has computed.
// CHECK-LABEL: func @strided
// CHECK-SAME: count = 3, saved_bytes = {{[0-9]+}}, operations = {{[1-9][0-9]*}}>]
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 0] [1, 2, 89, 259]
// CHECK: tensor.pad {{.*}} low[0, 0, 1, 1] high[0, 0, 0, 1]
// CHECK: to tensor<1x16x45x131xf32>
// CHECK: tensor.extract_slice %arg0[0, 0, 86, 0] [1, 2, 91, 259]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1] high[0, 0, 0, 1]
// CHECK: to tensor<1x16x45x131xf32>
// CHECK: tensor.extract_slice %arg0[0, 0, 174, 0] [1, 2, 85, 259]
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1] high[0, 0, 1, 1]
// CHECK: tensor.concat dim(2) {{.*}} : (tensor<1x16x22x65xf32>, tensor<1x16x22x65xf32>, tensor<1x16x21x65xf32>)
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#window = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#strided = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>
#filter = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#sum = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#half = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
#taps = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#max = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @strided(%x: tensor<1x2x259x259xf32>, %f: tensor<16x2x3x3xf32>) -> tensor<1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %ce1 = tensor.empty() : tensor<1x16x129x129xf32>
  %ci1 = linalg.fill ins(%zero : f32) outs(%ce1 : tensor<1x16x129x129xf32>) -> tensor<1x16x129x129xf32>
  %c1 = linalg.generic {indexing_maps = [#strided, #filter, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %f : tensor<1x2x259x259xf32>, tensor<16x2x3x3xf32>) outs(%ci1 : tensor<1x16x129x129xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x16x129x129xf32> loc("Conv_1")
  %re2 = tensor.empty() : tensor<1x16x129x129xf32>
  %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c1 : tensor<1x16x129x129xf32>) outs(%re2 : tensor<1x16x129x129xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<1x16x129x129xf32> loc("Relu_2")
  %p3 = tensor.pad %r2 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %low : f32
  } : tensor<1x16x129x129xf32> to tensor<1x16x131x131xf32>
  %w4 = tensor.empty() : tensor<3x3xf32>
  %pe4 = tensor.empty() : tensor<1x16x65x65xf32>
  %pi4 = linalg.fill ins(%low : f32) outs(%pe4 : tensor<1x16x65x65xf32>) -> tensor<1x16x65x65xf32>
  %y4 = linalg.generic {indexing_maps = [#half, #taps, #max], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p3, %w4 : tensor<1x16x131x131xf32>, tensor<3x3xf32>) outs(%pi4 : tensor<1x16x65x65xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<1x16x65x65xf32> loc("MaxPool_4")
  %te5 = tensor.empty() : tensor<1x16xf32>
  %ti5 = linalg.fill ins(%zero : f32) outs(%te5 : tensor<1x16xf32>) -> tensor<1x16xf32>
  %t5 = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%y4 : tensor<1x16x65x65xf32>) outs(%ti5 : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32> loc("Sum_5")
  return %t5 : tensor<1x16xf32>
}

// -----

// The division needs the sum of all rows of its operand, so the operand cannot be computed in strips.
// CHECK-LABEL: func @all_rows
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: tensor.concat
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#window = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#strided = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>
#filter = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#sum = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#half = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
#taps = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#max = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @all_rows(%x: tensor<1x2x32x32xf32>, %f: tensor<16x2x3x3xf32>) -> tensor<1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p1 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x32x32xf32> to tensor<1x2x34x34xf32>
  %ce2 = tensor.empty() : tensor<1x16x32x32xf32>
  %ci2 = linalg.fill ins(%zero : f32) outs(%ce2 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %c2 = linalg.generic {indexing_maps = [#window, #filter, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p1, %f : tensor<1x2x34x34xf32>, tensor<16x2x3x3xf32>) outs(%ci2 : tensor<1x16x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x16x32x32xf32> loc("Conv_2")
  %re3 = tensor.empty() : tensor<1x16x32x32xf32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c2 : tensor<1x16x32x32xf32>) outs(%re3 : tensor<1x16x32x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<1x16x32x32xf32> loc("Relu_3")
  %te4 = tensor.empty() : tensor<1x16xf32>
  %ti4 = linalg.fill ins(%zero : f32) outs(%te4 : tensor<1x16xf32>) -> tensor<1x16xf32>
  %t4 = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%r3 : tensor<1x16x32x32xf32>) outs(%ti4 : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32> loc("Sum_4")
  %de = tensor.empty() : tensor<1x16x32x32xf32>
  %d = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r3, %t4 : tensor<1x16x32x32xf32>, tensor<1x16xf32>) outs(%de : tensor<1x16x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<1x16x32x32xf32>
  %w5 = tensor.empty() : tensor<2x2xf32>
  %pe5 = tensor.empty() : tensor<1x16x16x16xf32>
  %pi5 = linalg.fill ins(%low : f32) outs(%pe5 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %y5 = linalg.generic {indexing_maps = [#half, #taps, #max], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%d, %w5 : tensor<1x16x32x32xf32>, tensor<2x2xf32>) outs(%pi5 : tensor<1x16x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<1x16x16x16xf32> loc("MaxPool_5")
  %te6 = tensor.empty() : tensor<1x16xf32>
  %ti6 = linalg.fill ins(%zero : f32) outs(%te6 : tensor<1x16xf32>) -> tensor<1x16xf32>
  %t6 = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%y5 : tensor<1x16x16x16xf32>) outs(%ti6 : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32> loc("Sum_6")
  return %t6 : tensor<1x16xf32>
}
// -----

// The peak of memory is due to the matrices, which are not computed in strips, so strips would gain nothing.
// CHECK-LABEL: func @no_gain
// CHECK-NOT: tensor.concat
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#window = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#strided = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>
#filter = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#sum = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#half = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
#taps = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#max = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#last = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#product = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @no_gain(%x: tensor<1x2x32x32xf32>, %f: tensor<16x2x3x3xf32>, %big: tensor<512x512xf32>) -> (tensor<1x16xf32>, tensor<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p1 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x32x32xf32> to tensor<1x2x34x34xf32>
  %ce2 = tensor.empty() : tensor<1x16x32x32xf32>
  %ci2 = linalg.fill ins(%zero : f32) outs(%ce2 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %c2 = linalg.generic {indexing_maps = [#window, #filter, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p1, %f : tensor<1x2x34x34xf32>, tensor<16x2x3x3xf32>) outs(%ci2 : tensor<1x16x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x16x32x32xf32> loc("Conv_2")
  %re3 = tensor.empty() : tensor<1x16x32x32xf32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c2 : tensor<1x16x32x32xf32>) outs(%re3 : tensor<1x16x32x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<1x16x32x32xf32> loc("Relu_3")
  %w4 = tensor.empty() : tensor<2x2xf32>
  %pe4 = tensor.empty() : tensor<1x16x16x16xf32>
  %pi4 = linalg.fill ins(%low : f32) outs(%pe4 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %y4 = linalg.generic {indexing_maps = [#half, #taps, #max], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%r3, %w4 : tensor<1x16x32x32xf32>, tensor<2x2xf32>) outs(%pi4 : tensor<1x16x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<1x16x16x16xf32> loc("MaxPool_4")
  %te5 = tensor.empty() : tensor<1x16xf32>
  %ti5 = linalg.fill ins(%zero : f32) outs(%te5 : tensor<1x16xf32>) -> tensor<1x16xf32>
  %t5 = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%y4 : tensor<1x16x16x16xf32>) outs(%ti5 : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32> loc("Sum_5")
  %ge = tensor.empty() : tensor<512x512xf32>
  %gi = linalg.fill ins(%zero : f32) outs(%ge : tensor<512x512xf32>) -> tensor<512x512xf32>
  %g = linalg.generic {indexing_maps = [#last, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]} ins(%big, %big : tensor<512x512xf32>, tensor<512x512xf32>) outs(%gi : tensor<512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  %h = linalg.generic {indexing_maps = [#last, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g, %g : tensor<512x512xf32>, tensor<512x512xf32>) outs(%gi : tensor<512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  return %t5, %h : tensor<1x16xf32>, tensor<512x512xf32>
}

// -----

// The number of rows is not known, so the function stays as it is.
// CHECK-LABEL: func @dynamic
// CHECK-NOT: tensor.concat
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @dynamic(%x: tensor<1x16x?x32xf32>) -> tensor<1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  %rows = tensor.dim %x, %two : tensor<1x16x?x32xf32>
  %e = tensor.empty(%rows) : tensor<1x16x?x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x16x?x32xf32>) outs(%e : tensor<1x16x?x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<1x16x?x32xf32>
  %te = tensor.empty() : tensor<1x16xf32>
  %ti = linalg.fill ins(%zero : f32) outs(%te : tensor<1x16xf32>) -> tensor<1x16xf32>
  %t = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%r : tensor<1x16x?x32xf32>) outs(%ti : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32>
  return %t : tensor<1x16xf32>
}

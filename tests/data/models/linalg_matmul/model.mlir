// Computes relu(a x b) with linalg operations on tensors.
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<37x19xf32>, %b: tensor<19x45xf32>) -> tensor<37x45xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x45xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x45xf32>) -> tensor<37x45xf32>
  %product = linalg.matmul ins(%a, %b : tensor<37x19xf32>, tensor<19x45xf32>)
      outs(%init : tensor<37x45xf32>) -> tensor<37x45xf32>
  %result = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%product : tensor<37x45xf32>) outs(%empty : tensor<37x45xf32>) {
  ^bb0(%in: f32, %out: f32):
    %positive = arith.maximumf %in, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<37x45xf32>
  return %result : tensor<37x45xf32>
}

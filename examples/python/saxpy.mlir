// a * x + y for vectors of any length n.
#scalar = affine_map<(i) -> ()>
#vector = affine_map<(i) -> (i)>

func.func @saxpy(%a: tensor<f32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#scalar, #vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%a, %x, %y : tensor<f32>, tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%factor: f32, %first: f32, %second: f32, %unused: f32):
      %product = arith.mulf %factor, %first : f32
      %result = arith.addf %product, %second : f32
      linalg.yield %result : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}

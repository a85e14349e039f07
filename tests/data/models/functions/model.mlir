// Applies functions of the math dialect that no ONNX operator needs for every argument.
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = math.expm1 %x : tensor<16xf32>
  return %y : tensor<16xf32>
}

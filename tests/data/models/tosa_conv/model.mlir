// Computes tanh(clamp(conv(x, w) + bias, 0, 6)) with TOSA operations (NHWC).
func.func @main(%x: tensor<1x6x6x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x6x6x4xf32> {
  %bias = "tosa.const"() {value = dense<[0.5, -0.25, 0.125, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %conv = tosa.conv2d %x, %w, %bias {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>,
      stride = array<i64: 1, 1>} : (tensor<1x6x6x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x6x6x4xf32>
  %clamped = tosa.clamp %conv {min_int = 0 : i64, max_int = 6 : i64, min_fp = 0.0 : f32, max_fp = 6.0 : f32}
      : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %result = tosa.tanh %clamped : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %result : tensor<1x6x6x4xf32>
}

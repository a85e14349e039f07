// Generates random models of one kernel or a short chain of operators, with inputs and the expected
// output.
//
// A case depends only on its seed, so a failure can be reproduced. Sizes are small and uneven on
// purpose. The cases cover partial tiles, strides, dilations, groups, single rows and empty
// batches.
#pragma once

#include "tests/e2e/random_kernels/tensor.h"

namespace gantry::test {

struct KernelCase {
  std::string what;  // Description: "conv [2, 6, 7, 5] * [4, 3, 3, 1], groups 2, … (f16)".
  std::string model; // The bytes of an .onnx file.
  std::vector<Tensor> inputs;
  Tensor expected;
  /// The indices of the output's elements that `expected` holds; empty: it holds all elements.
  std::vector<size_t> samples;
  double tolerance = 0;       // Max relativeError(); 0: the outputs must be equal.
  bool halfPrecision = false; // Whether to compile the model with f16 storage.
};

/// Returns a convolution, a transposed one, a matmul, attention, reduction, some layers of matmuls
/// or convolutions, or a chain of elementwise operators and transposes. Its format is f32, f16, or
/// f32 that is compiled with f16 storage. Convolutions and matmuls may also be in 8-bit integers,
/// between DequantizeLinear and QuantizeLinear. In three of ten cases some sizes are known only
/// when the model runs.
KernelCase randomKernel(uint64_t seed);

/// Returns the convolution [1, 64, size, size] * [256, 64, 3, 3], padded by 1. `format` is "f32",
/// "f16", or "int8" (between DequantizeLinear and QuantizeLinear). About 4,000 elements are
/// compared.
KernelCase largeConvolution(const std::string &format, int64_t size, uint64_t seed);

} // namespace gantry::test

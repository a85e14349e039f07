// Generates random models of one kernel or a short chain, with inputs and the expected output.
//
// A case depends only on its seed, so a failing one can be reproduced. Sizes are small and uneven
// on purpose, and cover partial tiles, strides, dilations, groups, single rows and empty batches.
#pragma once

#include "tests/e2e/random_kernels/tensor.h"

namespace gantry::test {

struct KernelCase {
  std::string what;  // For messages: "conv f16 [2, 6, 7, 5] * [4, 3, 3, 1], groups 2, …".
  std::string model; // The bytes of an .onnx file.
  std::vector<Tensor> inputs;
  Tensor expected;
  /// The elements of the output that `expected` holds; empty where it holds all.
  std::vector<size_t> samples;
  double tolerance = 0;       // Upper limit of relativeError; 0: equal.
  bool halfPrecision = false; // Set where the model is to be compiled with f16 storage.
};

/// Returns a convolution, matmul, attention, reduction or chain, in f32, in f16, or in f32 kept as
/// f16; convolutions and matmuls also in 8-bit integers, between DequantizeLinear and
/// QuantizeLinear.
KernelCase randomKernel(uint64_t seed);

/// Returns the convolution [1, 64, size, size] * [256, 64, 3, 3], padded by 1. `format` is "f32",
/// "f16", or "int8" (between DequantizeLinear and QuantizeLinear). About 4,000 elements are
/// compared.
KernelCase largeConvolution(const std::string &format, int64_t size, uint64_t seed);

} // namespace gantry::test

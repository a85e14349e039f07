// Random models of one kernel or a short chain, each with inputs and the expected output.
//
// A case is a function of its seed alone, so a failing one can be made again. Sizes are small and
// odd on purpose: ragged tiles, strides, dilations, groups, single rows, empty batches.
#pragma once

#include "tests/e2e/random_kernels/tensor.h"

namespace gantry::test {

struct KernelCase {
  std::string what;  // "conv f16 [2, 6, 7, 5] * [4, 3, 3, 1], groups 2, …"
  std::string model; // the bytes of an .onnx file
  std::vector<Tensor> inputs;
  Tensor expected;
  std::vector<size_t> samples; // expected holds these elements of the output alone; empty: all
  double tolerance = 0;        // of relativeError; 0: equal
  bool halfPrecision = false;  // to be compiled with f16 storage
};

/// One of convolution, product, attention, reduction and chain, in f32, f16, f32 kept as f16, or (a
/// convolution or product) 8-bit integers with DequantizeLinear before and QuantizeLinear after.
KernelCase randomKernel(uint64_t seed);

/// [1, 64, size, size] * [256, 64, 3, 3], padded by 1, in `format`: "f32", "f16", or "int8" with
/// DequantizeLinear before and QuantizeLinear after. Compared at some 4,000 elements.
KernelCase largeConvolution(const std::string &format, int64_t size, uint64_t seed);

} // namespace gantry::test

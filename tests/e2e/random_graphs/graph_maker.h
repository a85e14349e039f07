// Generates random models in which many tensors can share storage: concatenations, splits, slices,
// pads, reshapes (Squeeze, Unsqueeze and Flatten too), transposes, assignments to rows (ScatterND),
// elementwise operators and small convolutions, with the expected outputs.
//
// All numbers are small integers, so that every sum is exact and the outputs must be equal to the
// expected ones in any order of evaluation. A case depends only on its seed.
#pragma once

#include "tests/e2e/random_kernels/tensor.h"

namespace gantry::test {

struct GraphCase {
  std::string what;  // The inputs' shapes and the operators: "[1, 8, 5, 5] Slice(2) Relu …".
  std::string model; // The bytes of an .onnx file.
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;      // The expected ones.
  std::vector<std::string> donated; // Names of the inputs to donate.
};

GraphCase randomGraph(uint64_t seed);

} // namespace gantry::test

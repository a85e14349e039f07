// Groups of cases as one ONNX model each, with the inputs and the expected outputs.
//
// Compiling one kernel for each operator, type and variant in a model of its own would take
// minutes: all cases whose first input has one type share a model and its inputs.
#pragma once

#include "tests/e2e/numerics/operators.h"

namespace gantry::numerics {

struct TensorData {
  std::string name;
  Type type;
  std::vector<int64_t> dims;
  std::vector<Number> values;

  std::vector<uint8_t> bytes() const;
};

struct Output {
  const Case *test = nullptr;
  std::string name;
  std::vector<int64_t> dims;
  /// For each element the inputs that it is made of, and its column.
  std::vector<std::vector<Number>> arguments;
  std::vector<size_t> positions;
  std::vector<Expected> expected;
};

struct Model {
  std::string bytes; // Serialized ONNX model.
  std::vector<TensorData> inputs;
  std::vector<Output> outputs;
};

/// All tensors have a number of elements that is a multiple of 4 plus `tail`: kernels load four
/// elements at once, and the rest one by one.
Model makeModel(const std::vector<const Case *> &cases, size_t tail);

/// Whether a case is a function that is not exact, of one or two f32 tensors.
bool isElementary(const Case &test);

/// Elementary functions at kDenseCount arguments each.
Model makeDenseModel(const std::vector<const Case *> &cases);
constexpr size_t kDenseCount = 32769;

} // namespace gantry::numerics

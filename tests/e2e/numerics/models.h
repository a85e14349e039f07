// Builds ONNX models for groups of cases, with their inputs and expected outputs.
//
// All cases whose first input has the same type share one model and its inputs, because compiling
// one model per operator, type and variant would take minutes.
#pragma once

#include "tests/e2e/numerics/operators.h"

namespace gantry::numerics {

/// An input of the model with its values.
struct TensorData {
  std::string name;
  Type type;
  std::vector<int64_t> dims;
  std::vector<Number> values;

  std::vector<uint8_t> bytes() const;
};

/// An output of the model: the results of one case.
struct Output {
  const Case *test = nullptr;
  std::string name;
  std::vector<int64_t> dims;
  /// For each element of the output: the elements of the inputs that it depends on, and its column.
  std::vector<std::vector<Number>> arguments;
  std::vector<size_t> positions;
  std::vector<Expected> expected;
};

struct Model {
  std::string bytes; // Serialized ONNX model.
  std::vector<TensorData> inputs;
  std::vector<Output> outputs;
};

/// Returns a model of the cases. The number of elements of a tensor (of rows, for reductions) is a
/// multiple of 4 plus `tail`, because kernels load four elements at once and the tail one by one.
Model makeModel(const std::vector<const Case *> &cases, size_t tail);

/// Returns whether a case computes a function of one or two f32 tensors whose results may differ
/// from the reference within an error bound.
bool isElementary(const Case &test);

/// Returns a model that evaluates elementary functions at kDenseCount arguments each.
Model makeDenseModel(const std::vector<const Case *> &cases);
constexpr size_t kDenseCount = 32769;

} // namespace gantry::numerics

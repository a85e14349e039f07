// Tensor: a host tensor of the random kernel test. It holds its numbers as doubles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::test {

/// Element types, with the values of gantry_type_t.
enum class Type { kF32 = 0, kF16 = 1, kI8 = 4, kU8 = 5, kI32 = 8 };

/// Returns the size of an element in bytes.
uint64_t sizeOf(Type type);
/// Returns the type's TensorProto.DataType.
int onnxType(Type type);
/// Rounds to the nearest number of the type, ties to even; 8-bit integers saturate.
double rounded(Type type, double value);

struct Tensor {
  Type type = Type::kF32;
  std::vector<int64_t> dims;
  std::vector<double> values; // Row-major.

  Tensor() = default;
  Tensor(Type type, std::vector<int64_t> dims);
  int64_t count() const;
  /// Returns the elements in the memory layout of the type.
  std::string bytes() const;
  static Tensor fromBytes(Type type, const std::vector<int64_t> &dims, const void *data);
};

/// Returns the dims as text, such as "[2, 3]".
std::string describe(const std::vector<int64_t> &dims);

/// Returns ‖actual - expected‖ / max(‖expected‖, 1e-3). Elements at which both tensors have the
/// same infinity are left out of both norms. If another element of either tensor is infinite or
/// NaN, the result is infinity or NaN, which is within no tolerance. NaN does not equal NaN.
double relativeError(const Tensor &actual, const Tensor &expected);
/// Returns the norm ‖tensor‖ of the finite elements.
double normOf(const Tensor &tensor);

} // namespace gantry::test

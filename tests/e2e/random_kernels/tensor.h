// Tensor: a host tensor of the random kernel test. Its numbers are doubles that are rounded to the
// element type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::test {

/// Element types, with the values of gantry_type_t.
enum class Type { kF32 = 0, kF16 = 1, kI8 = 4, kU8 = 5, kI32 = 8 };

/// The size of an element in bytes.
uint64_t sizeOf(Type type);
/// The type's TensorProto.DataType.
int onnxType(Type type);
/// Rounds to the nearest number of the type, ties to even; integers saturate.
double rounded(Type type, double value);

struct Tensor {
  Type type = Type::kF32;
  std::vector<int64_t> dims;
  std::vector<double> values; // Row-major.

  Tensor() = default;
  Tensor(Type type, std::vector<int64_t> dims);
  int64_t count() const;
  /// The elements as they are stored in memory.
  std::string bytes() const;
  static Tensor fromBytes(Type type, const std::vector<int64_t> &dims, const void *data);
};

/// The dims as text: "[2, 3]".
std::string describe(const std::vector<int64_t> &dims);

/// ‖actual - expected‖ / ‖expected‖. The divisor is at least the norm of one element of 1e-3.
/// Infinity where one of the two is NaN.
double relativeError(const Tensor &actual, const Tensor &expected);

} // namespace gantry::test

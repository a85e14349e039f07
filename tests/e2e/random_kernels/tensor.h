// Host tensors of the random kernel test: numbers as doubles, rounded to what their type holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::test {

/// The numbers of gantry_type_t.
enum class Type { f32 = 0, f16 = 1, i8 = 4, u8 = 5, i32 = 8 };

uint64_t sizeOf(Type type); // bytes
int onnxType(Type type);    // TensorProto.DataType
/// The nearest number that the type holds: ties to even; integers saturate.
double rounded(Type type, double value);

struct Tensor {
  Type type = Type::f32;
  std::vector<int64_t> dims;
  std::vector<double> values; // row-major

  Tensor() = default;
  Tensor(Type type, std::vector<int64_t> dims);
  int64_t count() const;
  std::string bytes() const; // as memory and files hold them
  static Tensor fromBytes(Type type, const std::vector<int64_t> &dims, const void *data);
};

std::string describe(const std::vector<int64_t> &dims); // "[2, 3]"

/// ‖actual - expected‖ / ‖expected‖, at least over the norm of one element of 1e-3; infinity where
/// a number is no number.
double relativeError(const Tensor &actual, const Tensor &expected);

} // namespace gantry::test

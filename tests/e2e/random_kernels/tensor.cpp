// Implements tensor.h: rounds, stores and loads the elements of host tensors.
#include "tests/e2e/random_kernels/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gantry::test {

uint64_t sizeOf(Type type) {
  return type == Type::kF32 || type == Type::kI32 ? 4 : type == Type::kF16 ? 2 : 1;
}

int onnxType(Type type) {
  switch (type) {
  case Type::kF32:
    return 1;
  case Type::kF16:
    return 10;
  case Type::kI8:
    return 3;
  case Type::kU8:
    return 2;
  case Type::kI32:
    return 6;
  }
  return 0;
}

namespace {

/// Rounds to f16.
double roundedHalf(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int step = std::max(exponent - 11, -24);
  const double result = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  return std::fabs(result) > 65504 ? std::copysign(INFINITY, result) : result;
}

uint16_t halfBits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::fabs(roundedHalf(value));
  if (std::isinf(value))
    return sign | 0x7c00;
  if (value < 6.103515625e-05) // Denormal numbers are multiples of 2^-24.
    return sign | static_cast<uint16_t>(std::ldexp(value, 24));
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent); // In [0.5, 1).
  return static_cast<uint16_t>(sign | ((exponent + 14) << 10) |
                               static_cast<int>(std::ldexp(mantissa, 11) - 1024));
}

double halfValue(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double value = exponent == 31  ? (mantissa ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

template <typename T> void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

template <typename T> double readAs(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

} // namespace

double rounded(Type type, double value) {
  switch (type) {
  case Type::kF32:
    return static_cast<float>(value);
  case Type::kF16:
    return roundedHalf(value);
  case Type::kI8:
    return std::clamp(std::nearbyint(value), -128.0, 127.0);
  case Type::kU8:
    return std::clamp(std::nearbyint(value), 0.0, 255.0);
  case Type::kI32:
    return std::nearbyint(value);
  }
  return value;
}

Tensor::Tensor(Type type, std::vector<int64_t> dims)
    : type(type), dims(std::move(dims)), values(static_cast<size_t>(count())) {}

int64_t Tensor::count() const {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

std::string Tensor::bytes() const {
  std::string result;
  for (double value : values) {
    switch (type) {
    case Type::kF32:
      append(result, static_cast<float>(value));
      break;
    case Type::kF16:
      append(result, halfBits(value));
      break;
    case Type::kI8:
      append(result, static_cast<int8_t>(value));
      break;
    case Type::kU8:
      append(result, static_cast<uint8_t>(value));
      break;
    case Type::kI32:
      append(result, static_cast<int32_t>(value));
      break;
    }
  }
  return result;
}

Tensor Tensor::fromBytes(Type type, const std::vector<int64_t> &dims, const void *data) {
  Tensor tensor(type, dims);
  const auto *at = static_cast<const char *>(data);
  for (double &value : tensor.values) {
    switch (type) {
    case Type::kF32:
      value = readAs<float>(at);
      break;
    case Type::kF16:
      value = halfValue(static_cast<uint16_t>(readAs<uint16_t>(at)));
      break;
    case Type::kI8:
      value = readAs<int8_t>(at);
      break;
    case Type::kU8:
      value = readAs<uint8_t>(at);
      break;
    case Type::kI32:
      value = readAs<int32_t>(at);
      break;
    }
    at += sizeOf(type);
  }
  return tensor;
}

std::string describe(const std::vector<int64_t> &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

double normOf(const Tensor &tensor) {
  double sum = 0;
  for (double value : tensor.values)
    if (std::isfinite(value))
      sum += value * value;
  return std::sqrt(sum);
}

double relativeError(const Tensor &actual, const Tensor &expected) {
  double difference = 0;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const double a = actual.values[i], e = expected.values[i];
    if (!std::isfinite(a) && !(a == e))
      return std::numeric_limits<double>::infinity();
    if (a == e)
      continue; // The difference of equal infinities would be NaN.
    difference += (a - e) * (a - e);
  }
  return std::sqrt(difference) / std::max(normOf(expected), 1e-3);
}

} // namespace gantry::test

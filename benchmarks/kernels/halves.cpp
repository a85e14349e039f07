// Implements halves.h.
#include "benchmarks/kernels/halves.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gantry::bench {

std::vector<float> halfPattern(size_t count, uint32_t seed) {
  std::vector<float> values = pattern(count, seed);
  for (float &value : values)
    value = std::floor(value * 0x1p11F) * 0x1p-11F;
  return values;
}

uint16_t halfOf(float exact) {
  const auto bits = std::bit_cast<uint32_t>(exact);
  const uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 0xff;
  if (exponent == 0)
    return static_cast<uint16_t>(sign);
  return static_cast<uint16_t>(sign | (exponent - 112) << 10 | (bits >> 13 & 0x3ff));
}

float floatOf(uint16_t half) {
  const int exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
  float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  if (exponent == 0x1f)
    magnitude =
        mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent != 0)
    magnitude = std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

std::vector<uint8_t> bytesOf(const Tensor &tensor) {
  std::vector<uint8_t> bytes(tensor.values.size() * (tensor.halves ? 2 : 4));
  if (!tensor.halves) {
    std::memcpy(bytes.data(), tensor.values.data(), bytes.size());
    return bytes;
  }
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const uint16_t half = halfOf(tensor.values[i]);
    std::memcpy(&bytes[2 * i], &half, 2);
  }
  return bytes;
}

std::vector<float> floatsOf(std::span<const uint8_t> bytes, bool halves) {
  std::vector<float> values(bytes.size() / (halves ? 2 : 4));
  if (!halves) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, &bytes[2 * i], 2);
    values[i] = floatOf(half);
  }
  return values;
}

} // namespace gantry::bench

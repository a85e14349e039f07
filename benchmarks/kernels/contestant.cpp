// Implements contestant.h.
#include "benchmarks/kernels/contestant.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gantry::bench {

const char *nameOf(Ceiling ceiling) {
  switch (ceiling) {
  case Ceiling::kMultiplyAdd:
    return "multiply-add";
  case Ceiling::kRead:
    return "read";
  case Ceiling::kCopy:
    return "copy";
  case Ceiling::kTriad:
    return "triad";
  }
  return "";
}

uint32_t repeatsOf(double seconds) {
  return static_cast<uint32_t>(std::clamp(std::ceil(0.05 / std::max(seconds, 1e-7)), 1.0, 4096.0));
}

std::vector<float> pattern(size_t count, uint32_t seed, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = static_cast<uint32_t>(i) * 2654435761U + seed * 974593U;
    bits ^= bits >> 15;
    bits *= 2246822519U;
    bits ^= bits >> 13;
    values[i] = (static_cast<float>(bits >> 8) * 0x1p-24F - 0.5F) * scale;
  }
  return values;
}

double relativeError(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size())
    return std::numeric_limits<double>::infinity();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - b[i];
    difference += d * d;
    norm += static_cast<double>(b[i]) * b[i];
  }
  const double error = std::sqrt(difference / norm);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

} // namespace gantry::bench

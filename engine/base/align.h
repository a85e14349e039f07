// Alignment arithmetic that says when it overflows. Header only; pure functions.
#pragma once

#include <cstdint>
#include <optional>

namespace gantry {

constexpr bool isPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

/// The smallest multiple of alignment that is not below value; nothing where it exceeds 64 bits.
/// alignment is a power of two.
constexpr std::optional<uint64_t> checkedRoundUp(uint64_t value, uint64_t alignment) {
  const uint64_t mask = alignment - 1;
  if (value > UINT64_MAX - mask)
    return std::nullopt;
  return (value + mask) & ~mask;
}

/// The same for values that are known to be far below 2^64 (offsets inside a checked section).
constexpr uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

constexpr std::optional<uint64_t> checkedAdd(uint64_t a, uint64_t b) {
  if (a > UINT64_MAX - b)
    return std::nullopt;
  return a + b;
}

} // namespace gantry

// Alignment arithmetic on 64-bit sizes. The functions whose names begin with "checked" check for
// overflow. Header only; pure functions, so every function may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>

namespace gantry {

/// Returns whether exactly one bit of value is set; 0 is not a power of two.
constexpr bool isPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

/// Returns the smallest multiple of alignment that is at least value, or nullopt if that multiple
/// does not fit into 64 bits. alignment must be a power of two.
constexpr std::optional<uint64_t> checkedRoundUp(uint64_t value, uint64_t alignment) {
  const uint64_t mask = alignment - 1;
  if (value > UINT64_MAX - mask)
    return std::nullopt;
  return (value + mask) & ~mask;
}

/// Rounds up like checkedRoundUp(), but does not check for overflow. Callers use it for values that
/// are known to be far below 2^64, such as offsets inside a file whose size was checked.
constexpr uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// Returns the largest multiple of alignment, a power of two, that is at most value.
constexpr uint64_t roundDown(uint64_t value, uint64_t alignment) {
  return value & ~(alignment - 1);
}

/// Returns a + b, or nullopt if the sum does not fit into 64 bits.
constexpr std::optional<uint64_t> checkedAdd(uint64_t a, uint64_t b) {
  if (a > UINT64_MAX - b)
    return std::nullopt;
  return a + b;
}

} // namespace gantry

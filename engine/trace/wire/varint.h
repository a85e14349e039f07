// LEB128 variable-length integers, and the zigzag mapping that makes signed numbers of small
// magnitude short.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace gantry::trace {

inline constexpr uint32_t kMaxVarintBytes = 10;

/// Writes `value` at `at`, at most kMaxVarintBytes bytes. Returns the position after the number.
inline uint8_t *putVarint(uint8_t *at, uint64_t value) {
  while (value >= 0x80)
    [[unlikely]] {
      *at++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

/// Reads one number from [at, end) into *value. Returns the position after the number, or nullptr
/// if the bytes end too early or the number does not fit into 64 bits.
inline const uint8_t *getVarint(const uint8_t *at, const uint8_t *end, uint64_t *value) {
  if (at < end && *at < 0x80) [[likely]] {
    *value = *at;
    return at + 1;
  }
  uint64_t result = 0;
  for (uint32_t shift = 0; at < end && shift < 64; shift += 7) {
    const uint64_t byte = *at++;
    if (shift == 63 && byte > 1)
      return nullptr; // The number has more than 64 bits.
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return nullptr;
}

/// Maps 0, -1, 1, -2, … to 0, 1, 2, 3, …; unzigzag() is the inverse.
inline uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

} // namespace gantry::trace

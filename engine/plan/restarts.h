// How long each of a series of searches runs before the next begins: Luby, Sinclair & Zuckerman
// 1993, "Optimal speedup of Las Vegas algorithms". Header only; pure.
#pragma once

#include <bit>
#include <cstdint>

namespace gantry::plan {

/// 1 1 2 1 1 2 4 …, from index 1.
inline uint64_t lubyLength(uint64_t index) {
  for (;;) {
    const uint64_t power = std::bit_width(index + 1) - 1;
    if (index + 1 == uint64_t{1} << power)
      return uint64_t{1} << (power - 1);
    index -= (uint64_t{1} << power) - 1;
  }
}

} // namespace gantry::plan

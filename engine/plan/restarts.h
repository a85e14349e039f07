// How long each of a series of searches runs before the next begins: Luby, Sinclair & Zuckerman
// 1993, "Optimal speedup of Las Vegas algorithms". Header only; pure.
#pragma once

#include <bit>
#include <cstdint>

namespace gantry::plan {

/// 1 1 2 1 1 2 4 …, from index 1.
inline uint64_t lubyLength(uint64_t index) {
  for (;;) {
    const uint64_t power = std::bit_floor(index + 1); // the largest power of two within it
    if (index + 1 == power)
      return power / 2;
    index -= power - 1;
  }
}

} // namespace gantry::plan

// The lengths of successive runs of a search that restarts: Luby, Sinclair & Zuckerman 1993,
// "Optimal speedup of Las Vegas algorithms". Header only; pure.
#pragma once

#include <bit>
#include <cstdint>

namespace gantry::plan {

/// Returns the length of run `index`, which counts from 1: 1 1 2 1 1 2 4 …
inline uint64_t lubyLength(uint64_t index) {
  for (;;) {
    const uint64_t power = std::bit_floor(index + 1);
    if (index + 1 == power)
      return power / 2;
    index -= power - 1;
  }
}

} // namespace gantry::plan

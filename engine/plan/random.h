// A random number generator that gives the same numbers on every machine: SplitMix64 (Steele, Lea &
// Flood 2014). Header only. Threads: one at a time.
#pragma once

#include <cstdint>

namespace gantry::plan {

class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
  }
  /// Returns a number in [0, limit). limit must be in [1, 2^32].
  uint32_t below(uint64_t limit) { return static_cast<uint32_t>(next() % limit); }
  /// Returns a number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state_;
};

} // namespace gantry::plan

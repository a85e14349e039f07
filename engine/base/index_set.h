// A set of small numbers, for the indices of unused elements of an array.
//
// The set consists of bitmaps in three levels. Level 0 has a bit per number; bit i of a higher
// level says that word i of the level below is not 0. A free list linked through the elements would
// return the element that became free last, wherever it lies. This set returns the lowest index
// from a given one on and does not touch the elements, so elements that are taken together lie
// together in memory.
//
// Cost: add() and take() take a few instructions; take() also scans the highest level, one word for
// every 2^18 numbers, until it finds a member. Threads: one at a time. Errors: only reserve() can
// fail, if the host has no memory.
#pragma once

#include "engine/base/host_memory.h"

namespace gantry {

class IndexSet {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit IndexSet(const HostAllocator &host)
      : levels_{HostArray<uint64_t>(host), HostArray<uint64_t>(host), HostArray<uint64_t>(host)} {}

  uint32_t size() const { return size_; }

  /// Makes room for numbers below `limit`. Returns false, with the same members, if the host has no
  /// memory.
  [[nodiscard]] bool reserve(uint32_t limit);

  bool has(uint32_t index) const {
    return index / 64 < levels_[0].size() && (levels_[0][index / 64] >> index % 64 & 1) != 0;
  }

  /// Adds a number that is not a member. reserve() has made room for it.
  void add(uint32_t index) {
    for (HostArray<uint64_t> &level : levels_) {
      const uint64_t before = level[index / 64];
      level[index / 64] = before | uint64_t{1} << index % 64;
      if (before != 0)
        break; // the bit of this word is already set in the level above
      index /= 64;
    }
    ++size_;
  }

  /// Removes and returns the lowest member that is at least `near`, or the lowest of all if there
  /// is none. Returns kNone if the set is empty.
  uint32_t take(uint32_t near);

private:
  static constexpr uint32_t kLevels = 3;

  /// The lowest member that is at least `from`; kNone if there is none.
  uint32_t next(uint32_t from) const;

  std::array<HostArray<uint64_t>, kLevels> levels_;
  uint32_t size_ = 0;
};

} // namespace gantry

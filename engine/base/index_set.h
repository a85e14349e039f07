// A set of small numbers: which records of an array nobody has.
//
// Bitmaps in three levels: a bit of a level tells whether its word of the level below has one.
// Unlike a list threaded through the records it gives them out in their order in memory, however
// they came back, and reading it touches none of them: records that are taken together lie
// together, and a walk over them stays in the processor's caches.
//
// Cost: a few instructions; where members are rare, one word of the last level for each 2^18
// numbers. Threads: one at a time. Errors: reserve() alone needs host memory.
#pragma once

#include "engine/base/host_memory.h"

namespace gantry {

class IndexSet {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit IndexSet(const HostAllocator &host)
      : levels_{HostArray<uint64_t>(host), HostArray<uint64_t>(host), HostArray<uint64_t>(host)} {}

  uint32_t size() const { return size_; }

  /// Room for numbers below `limit`; false where the host has no memory, with nothing changed.
  [[nodiscard]] bool reserve(uint32_t limit);

  bool has(uint32_t index) const {
    return index / 64 < levels_[0].size() && (levels_[0][index / 64] >> index % 64 & 1) != 0;
  }

  void add(uint32_t index) {
    for (HostArray<uint64_t> &level : levels_) {
      const uint64_t before = level[index / 64];
      level[index / 64] = before | uint64_t{1} << index % 64;
      if (before != 0)
        break; // the levels above know of this word
      index /= 64;
    }
    ++size_;
  }

  /// Takes the first member from `near` on, or where there is none the first of all. kNone: empty.
  uint32_t take(uint32_t near);

private:
  static constexpr uint32_t kLevels = 3;

  uint32_t next(uint32_t from) const;

  std::array<HostArray<uint64_t>, kLevels> levels_;
  uint32_t size_ = 0;
};

} // namespace gantry

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

#include <bit>

namespace gantry::heap {

class IndexSet {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit IndexSet(const HostAllocator &host)
      : levels_{HostArray<uint64_t>(host), HostArray<uint64_t>(host), HostArray<uint64_t>(host)} {}

  uint32_t size() const { return size_; }

  /// Room for numbers below `limit`; false where the host has no memory, with nothing changed.
  [[nodiscard]] bool reserve(uint32_t limit) {
    uint64_t words = limit;
    for (HostArray<uint64_t> &level : levels_) {
      words = (words + 63) / 64;
      if (words > level.size() && !level.resize(static_cast<uint32_t>(words)))
        return false;
    }
    return true;
  }

  bool has(uint32_t index) const {
    return index / 64 < levels_[0].size() && (levels_[0][index / 64] >> index % 64 & 1) != 0;
  }

  void add(uint32_t index) {
    for (HostArray<uint64_t> &level : levels_) {
      level[index / 64] |= uint64_t{1} << index % 64;
      index /= 64;
    }
    ++size_;
  }

  /// Takes the first member from `near` on, or where there is none the first of all. kNone: empty.
  uint32_t take(uint32_t near) {
    if (size_ == 0)
      return kNone;
    uint32_t index = next(near);
    if (index == kNone)
      index = next(0);
    uint32_t at = index;
    for (HostArray<uint64_t> &level : levels_) {
      if ((level[at / 64] &= ~(uint64_t{1} << at % 64)) != 0)
        break;
      at /= 64;
    }
    --size_;
    return index;
  }

private:
  static constexpr uint32_t kLevels = 3;

  uint32_t next(uint32_t from) const {
    for (uint32_t level = 0; level < kLevels; ++level) {
      uint32_t word = from / 64;
      if (word >= levels_[level].size())
        return kNone;
      uint64_t bits = levels_[level][word] & (~uint64_t{0} << from % 64);
      while (bits == 0 && level == kLevels - 1 && ++word < levels_[level].size())
        bits = levels_[level][word];
      if (bits != 0) {
        uint32_t index = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        while (level-- > 0)
          index = index * 64 + static_cast<uint32_t>(std::countr_zero(levels_[level][index]));
        return index;
      }
      from = word + 1;
    }
    return kNone;
  }

  std::array<HostArray<uint64_t>, kLevels> levels_;
  uint32_t size_ = 0;
};

} // namespace gantry::heap

// Implements IndexSet.
#include "engine/base/index_set.h"

#include <bit>

namespace gantry {

bool IndexSet::reserve(uint32_t limit) {
  uint64_t words = limit;
  for (HostArray<uint64_t> &level : levels_) {
    words = (words + 63) / 64;
    if (words > level.size() && !level.resize(static_cast<uint32_t>(words)))
      return false;
  }
  return true;
}

uint32_t IndexSet::take(uint32_t near) {
  if (size_ == 0)
    return kNone;
  uint32_t index = next(near);
  if (index == kNone)
    index = next(0);
  uint32_t at = index;
  for (HostArray<uint64_t> &level : levels_) {
    uint64_t &word = level[at / 64];
    word &= ~(uint64_t{1} << at % 64);
    if (word != 0)
      break;
    at /= 64;
  }
  --size_;
  return index;
}

uint32_t IndexSet::next(uint32_t from) const {
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

} // namespace gantry

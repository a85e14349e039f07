// What the steps and the neighbours say of the offsets that are left.
#include "engine/plan/offset_domains.h"

#include <algorithm>

namespace gantry::plan {

namespace {

/// Of the capacity: a step that can spare no more than this says something of borders.
constexpr uint32_t kNearlyTightShare = 64;

} // namespace

/// Each run of addresses between what is placed must be filled, but for what the step can spare.
bool OffsetDomains::fillRuns(uint32_t index, uint32_t lost) {
  const Step &step = steps_[index];
  const uint64_t *const room = roomOf(index);
  std::copy_n(room, words_, open_.begin());
  for (uint32_t m = step.first; m < step.last; ++m)
    if (const Item &item = items_[members_[m]]; item.isPlaced() && isDirty_[members_[m]] == 0)
      clearRange(open_.data(), item.low, item.low + item.size);
  for (size_t begin = nextBit(open_.data(), words_, 0); begin < capacity_;) {
    const size_t end = nextGap(open_.data(), words_, begin);
    uint32_t lostHere = 0;
    for (size_t w = begin / 64; w <= (end - 1) / 64; ++w)
      lostHere += static_cast<uint32_t>(std::popcount(maskOf(w, begin, end) & ~once_[w]));
    if (!fillRun(index, static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
                 step.slack - (lost - lostHere))) {
      culpritStep_ = index;
      return false;
    }
    begin = nextBit(open_.data(), words_, end);
  }
  return true;
}

/// The sums of items that fill [begin, end) up to `spare` addresses, forwards and backwards (Trick
/// 2003, "A dynamic programming approach for consistency and propagation for knapsack
/// constraints"): an item without which there is none lies there, one with which there is none does
/// not.
bool OffsetDomains::fillRun(uint32_t index, uint32_t begin, uint32_t end, uint32_t spare) {
  const Step &step = steps_[index];
  const uint32_t length = end - begin;
  uint32_t needed = 0;
  uint64_t possible = 0;
  optional_.clear();
  for (uint32_t m = step.first; m < step.last; ++m) {
    const uint32_t member = members_[m];
    const Item &item = items_[member];
    if (item.isPlaced() && isDirty_[member] == 0)
      continue;
    if (item.low >= end || item.high < begin || item.size > length)
      continue;
    if (item.low >= begin && item.high < end) {
      needed += item.size;
      continue;
    }
    if (nextBit(row(member), words_, begin) <= end - item.size) {
      optional_.push_back(member);
      possible += item.size;
    }
  }
  work_ += 4 * static_cast<uint64_t>(step.last - step.first);
  if (needed > length || needed + possible + spare < length)
    return false;
  const uint32_t room = length - needed;
  const uint32_t least = room > spare ? room - spare : 0;
  if (optional_.empty() || spare >= length || (least == 0 && possible <= room))
    return true;
  const size_t words = room / 64 + 1;
  const size_t count = optional_.size();
  complete_.assign((count + 1) * words, 0);
  setRange(complete_.data() + count * words, least, room + size_t{1});
  for (size_t k = count; k-- > 0;) {
    const uint64_t *const after = complete_.data() + (k + 1) * words;
    uint64_t *const own = complete_.data() + k * words;
    for (size_t w = 0; w < words; ++w)
      own[w] = after[w] | wordMovedDown(after, words, w, items_[optional_[k]].size);
  }
  work_ += 8 * count * words;
  if ((complete_[0] & 1) == 0)
    return false;
  std::fill_n(sums_.begin(), words, 0);
  sums_[0] = 1;
  for (size_t k = 0; k < count; ++k) {
    const uint64_t *const after = complete_.data() + (k + 1) * words;
    const uint32_t member = optional_[k];
    const Item &item = items_[member];
    bool inside = false;
    bool outside = false;
    for (size_t w = 0; w < words; ++w) {
      inside = inside || (wordMovedUp(sums_.data(), w, item.size) & after[w]) != 0;
      outside = outside || (sums_[w] & after[w]) != 0;
    }
    for (size_t w = words; w-- > 0;)
      sums_[w] |= wordMovedUp(sums_.data(), w, item.size);
    if (!outside)
      keepRange(member, begin, end - item.size);
    else if (!inside)
      takeRange(member, begin, end);
  }
  return true;
}

bool OffsetDomains::filterStep(uint32_t index) {
  Step &step = steps_[index];
  const uint32_t words = words_;
  work_ += static_cast<uint64_t>(words) * (step.last - step.first) * 2;
  std::fill(once_.begin(), once_.end(), 0);
  std::fill(twice_.begin(), twice_.end(), 0);
  for (uint32_t m = step.first; m < step.last; ++m) {
    const uint64_t *const cover = covers_.data() + static_cast<size_t>(members_[m]) * words;
    for (uint32_t w = 0; w < words; ++w) {
      twice_[w] |= once_[w] & cover[w];
      once_[w] |= cover[w];
    }
  }
  const uint64_t *const room = roomOf(index);
  uint32_t lost = 0;
  for (uint32_t w = 0; w < words; ++w) {
    lost += static_cast<uint32_t>(std::popcount(room[w] & ~once_[w]));
    once_[w] &= room[w];
  }
  step.isTight = lost == step.slack;
  if (lost > step.slack) {
    culpritStep_ = index;
    return false;
  }
  if (!fillRuns(index, lost))
    return false;
  if (!step.isTight) {
    if (step.slack - lost <= capacity_ / kNearlyTightShare)
      keepNear(index, step.slack - lost);
    return true;
  }
  work_ += static_cast<uint64_t>(words) * (step.last - step.first) * 8;
  for (std::vector<uint64_t> *row : {&startsOnce_, &startsTwice_, &endsOnce_, &endsTwice_})
    std::fill(row->begin(), row->end(), 0);
  for (uint32_t m = step.first; m < step.last; ++m) {
    const uint64_t *const own = row(members_[m]);
    const uint32_t size = items_[members_[m]].size;
    for (uint32_t w = 0; w < words; ++w) {
      startsTwice_[w] |= startsOnce_[w] & own[w];
      startsOnce_[w] |= own[w];
      const uint64_t ends = wordMovedUp(own, w, size);
      endsTwice_[w] |= endsOnce_[w] & ends;
      endsOnce_[w] |= ends;
    }
  }
  // Borders of what must be covered support any number.
  for (uint32_t w = 0; w < words; ++w) {
    const uint64_t below = wordMovedUp(once_.data(), w, 1);
    endsTwice_[w] |= once_[w] & ~below;
    startsTwice_[w] |= below & ~once_[w];
  }
  for (uint32_t m = step.first; m < step.last; ++m) {
    const uint32_t member = members_[m];
    const Item &item = items_[member];
    const uint64_t *const cover = covers_.data() + static_cast<size_t>(member) * words;
    uint64_t *const own = rows_.data() + static_cast<size_t>(member) * words;
    size_t first = SIZE_MAX; // of the addresses that are this item's alone
    size_t last = 0;
    for (uint32_t w = 0; w < words; ++w)
      if (const uint64_t alone = cover[w] & once_[w] & ~twice_[w]; alone != 0) {
        if (first == SIZE_MAX)
          first = w * 64 + static_cast<size_t>(std::countr_zero(alone));
        last = w * 64 + 63 - static_cast<size_t>(std::countl_zero(alone));
      }
    const size_t lowest = first == SIZE_MAX || last + 1 < item.size ? 0 : last + 1 - item.size;
    const size_t highest = first == SIZE_MAX ? capacity_ : first;
    bool changes = false;
    for (uint32_t w = 0; w < words; ++w) {
      if (own[w] == 0)
        continue;
      // Above it: something begins, other than itself; where its own start lies there, another's.
      const uint64_t ends = wordMovedUp(own, w, item.size);
      const uint64_t supportedBelow = endsTwice_[w] | (endsOnce_[w] & ~ends);
      uint64_t kept = own[w] & supportedBelow & maskOf(w, lowest, highest + 1);
      if (kept != 0)
        kept &= wordMovedDown(startsTwice_.data(), words, w, item.size) |
                (wordMovedDown(startsOnce_.data(), words, w, item.size) &
                 ~wordMovedDown(own, words, w, item.size));
      scratch_[w] = kept;
      changes = changes || kept != own[w];
    }
    if (!changes)
      continue;
    save(member);
    for (uint32_t w = 0; w < words; ++w)
      if (own[w] != 0)
        own[w] = scratch_[w];
    touched(member);
  }
  return true;
}

/// Below and above an item no more is empty than the step can spare.
void OffsetDomains::keepNear(uint32_t index, uint32_t spare) {
  const Step &step = steps_[index];
  work_ += static_cast<uint64_t>(words_) * (step.last - step.first) * 4;
  for (uint32_t w = 0; w < words_; ++w) {
    const uint64_t below = wordMovedUp(once_.data(), w, 1);
    endsOnce_[w] = once_[w] & ~below;
    startsOnce_[w] = below & ~once_[w];
  }
  for (uint32_t m = step.first; m < step.last; ++m) {
    const uint64_t *const own = row(members_[m]);
    const uint32_t size = items_[members_[m]].size;
    for (uint32_t w = 0; w < words_; ++w) {
      startsOnce_[w] |= own[w];
      endsOnce_[w] |= wordMovedUp(own, w, size);
    }
  }
  // Offsets with an end at most so far below; then tops with a start at most so far above.
  stretch(endsOnce_.data(), words_, spare + size_t{1});
  std::copy(startsOnce_.begin(), startsOnce_.end(), startsTwice_.begin());
  for (uint32_t by = 1; by <= spare; ++by)
    for (uint32_t w = 0; w < words_; ++w)
      startsTwice_[w] |= wordMovedDown(startsOnce_.data(), words_, w, by);
  for (uint32_t m = step.first; m < step.last; ++m) {
    const uint32_t member = members_[m];
    const uint32_t size = items_[member].size;
    uint64_t *const own = rows_.data() + static_cast<size_t>(member) * words_;
    bool changes = false;
    for (uint32_t w = 0; w < words_; ++w) {
      scratch_[w] =
          own[w] == 0 ? 0
                      : own[w] & endsOnce_[w] & wordMovedDown(startsTwice_.data(), words_, w, size);
      changes = changes || scratch_[w] != own[w];
    }
    if (!changes)
      continue;
    save(member);
    std::copy(scratch_.begin(), scratch_.end(), own);
    touched(member);
  }
}

void OffsetDomains::findEnds(uint32_t index) {
  const Step &step = steps_[index];
  uint64_t *const once = stepEndsOnce_.data() + static_cast<size_t>(index) * words_;
  uint64_t *const twice = stepEndsTwice_.data() + static_cast<size_t>(index) * words_;
  const uint64_t *const room = roomOf(index);
  for (uint32_t w = 0; w < words_; ++w) {
    once[w] = 0;
    twice[w] = room[w] & ~wordMovedUp(room, w, 1);
  }
  work_ += static_cast<uint64_t>(words_) * (step.last - step.first) * 3;
  for (uint32_t m = step.first; m < step.last; ++m) {
    const uint64_t *const own = row(members_[m]);
    const uint32_t size = items_[members_[m]].size;
    for (uint32_t w = 0; w < words_; ++w) {
      const uint64_t ends = wordMovedUp(own, w, size);
      twice[w] |= once[w] & ends;
      once[w] |= ends;
    }
    if (isUnrested_[members_[m]] == 0) {
      isUnrested_[members_[m]] = 1;
      unrested_.push_back(members_[m]);
    }
  }
}

/// Takes the offsets at which nothing can lie right below it.
void OffsetDomains::restOnSomething(uint32_t index) {
  const Item &item = items_[index];
  uint64_t *const own = rows_.data() + static_cast<size_t>(index) * words_;
  std::fill(scratch_.begin(), scratch_.end(), 0);
  work_ += static_cast<uint64_t>(words_) * (item.stepEnd - item.stepBegin + 1) * 2;
  const uint32_t firstWord = item.low >= item.alignment ? (item.low - item.alignment) / 64 : 0;
  const uint32_t lastWord = item.high / 64;
  for (uint32_t t = item.stepBegin; t < item.stepEnd; ++t) {
    const uint64_t *const once = stepEndsOnce_.data() + static_cast<size_t>(t) * words_;
    const uint64_t *const twice = stepEndsTwice_.data() + static_cast<size_t>(t) * words_;
    for (uint32_t w = firstWord; w <= lastWord; ++w)
      scratch_[w] |= twice[w] | (once[w] & ~wordMovedUp(own, w, item.size));
  }
  stretch(scratch_.data(), words_, item.alignment); // up to where it may lie
  bool changes = false;
  for (uint32_t w = firstWord; w <= lastWord; ++w)
    changes = changes || (own[w] & ~scratch_[w]) != 0;
  if (!changes)
    return;
  save(index);
  for (uint32_t w = firstWord; w <= lastWord; ++w)
    own[w] &= scratch_[w];
  touched(index);
}

} // namespace gantry::plan

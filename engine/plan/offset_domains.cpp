#include "engine/plan/offset_domains.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gantry::plan {

namespace {

/// Words looked at that count as one unit of a meter.
constexpr uint64_t kWordsPerUnit = 16;

} // namespace

OffsetDomains::OffsetDomains(const Problem &problem, uint64_t unit, uint32_t capacity)
    : capacity_(capacity), words_(capacity / 64 + 1) {
  for (std::vector<uint64_t> *row : {&once_, &twice_, &startsOnce_, &startsTwice_, &endsOnce_,
                                     &endsTwice_, &scratch_, &sums_, &open_})
    row->resize(words_);
  buildSteps(problem, unit);
  if (!refuted_)
    buildRows(problem, unit);
}

/// The steps whose items are not all part of a neighbouring step.
void OffsetDomains::buildSteps(const Problem &problem, uint64_t unit) {
  std::vector<uint8_t> begins(problem.stepCount + 1, 0);
  std::vector<uint8_t> ends(problem.stepCount + 1, 0);
  for (uint32_t i = 0; i < problem.count(); ++i) {
    begins[problem.begin[i]] = 1;
    ends[problem.end[i]] = 1;
  }
  std::vector<uint32_t> kept; // per step: how many before it are kept
  uint32_t count = 0;
  for (uint32_t t = 0; t <= problem.stepCount; ++t) {
    kept.push_back(count);
    if (t < problem.stepCount && begins[t] != 0 && ends[t + 1] != 0)
      ++count;
  }
  room_.assign(static_cast<size_t>(count) * words_, 0);
  std::vector<uint64_t> sums(count, 0);
  std::vector<std::vector<uint32_t>> membersOf(count);
  for (uint32_t t = 0; t < count; ++t)
    setRange(room_.data() + static_cast<size_t>(t) * words_, 0, capacity_);
  for (uint32_t i = 0; i < problem.count(); ++i) {
    const uint32_t first = kept[problem.begin[i]];
    const uint32_t last = kept[problem.end[i]];
    const uint64_t size = problem.size[i] / unit;
    if (problem.isFixed(i)) {
      const bool isObstacle = i + problem.obstacleCount >= problem.count();
      if (!isObstacle && problem.fixedOffset[i] / unit + size > capacity_) {
        refuted_ = true;
        return;
      }
      const uint64_t begin = std::min<uint64_t>(problem.fixedOffset[i] / unit, capacity_);
      const uint64_t end = std::min<uint64_t>(begin + size, capacity_);
      for (uint32_t t = first; t < last; ++t)
        clearRange(room_.data() + static_cast<size_t>(t) * words_, begin, end);
      continue;
    }
    if (size > capacity_) {
      refuted_ = true;
      return;
    }
    Item item;
    item.id = i;
    item.stepBegin = first;
    item.stepEnd = last;
    item.size = static_cast<uint32_t>(size);
    for (uint32_t t = first; t < last; ++t) {
      membersOf[t].push_back(static_cast<uint32_t>(items_.size()));
      sums[t] += size;
    }
    items_.push_back(item);
  }
  for (uint32_t t = 0; t < count; ++t) {
    Step step;
    step.first = static_cast<uint32_t>(members_.size());
    members_.insert(members_.end(), membersOf[t].begin(), membersOf[t].end());
    step.last = static_cast<uint32_t>(members_.size());
    uint64_t room = 0;
    for (uint32_t w = 0; w < words_; ++w)
      room += static_cast<uint64_t>(std::popcount(room_[static_cast<size_t>(t) * words_ + w]));
    if (sums[t] > room) {
      refuted_ = true;
      return;
    }
    step.slack = static_cast<uint32_t>(room - sums[t]);
    steps_.push_back(step);
  }
}

void OffsetDomains::buildRows(const Problem &problem, uint64_t unit) {
  const auto count = static_cast<uint32_t>(items_.size());
  rows_.assign(static_cast<size_t>(count) * words_, 0);
  covers_.assign(static_cast<size_t>(count) * words_, 0);
  neighbours_.resize(count);
  savedAt_.assign(count, 0);
  isDirty_.assign(count, 0);
  isStepDirty_.assign(steps_.size(), 0);
  stepEndsOnce_.assign(steps_.size() * words_, 0);
  stepEndsTwice_.assign(steps_.size() * words_, 0);
  areEndsStale_.assign(steps_.size(), 0);
  isUnrested_.assign(count, 0);
  using Kind = std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>;
  std::map<Kind, uint32_t> lastOfKind;
  for (uint32_t i = 0; i < count; ++i) {
    Item &item = items_[i];
    uint64_t *const row = rows_.data() + static_cast<size_t>(i) * words_;
    setRange(row, 0, capacity_ - item.size + 1);
    // Offsets from which every address is free.
    std::fill(once_.begin(), once_.end(), 0);
    for (uint32_t t = item.stepBegin; t < item.stepEnd; ++t)
      for (uint32_t w = 0; w < words_; ++w)
        once_[w] |= ~roomOf(t)[w] & maskOf(w, 0, capacity_);
    for (uint32_t y = 0; y < capacity_; ++y)
      if (testBit(once_.data(), y) && (y == 0 || !testBit(once_.data(), y - 1))) {
        uint32_t end = y;
        while (end < capacity_ && testBit(once_.data(), end))
          ++end;
        clearRange(row, y + 1 > item.size ? y + 1 - item.size : 0, end);
      }
    const uint64_t alignment = problem.alignmentOf(item.id);
    if (alignment > unit)
      item.alignment = static_cast<uint32_t>(std::min<uint64_t>(alignment / unit, capacity_ + 1));
    if (item.alignment > 1)
      for (uint32_t y = 0; y <= capacity_; ++y)
        if (y % item.alignment != 0)
          clearBit(row, y);
    const Kind kind(problem.begin[item.id], problem.end[item.id], item.size, alignment);
    const auto [known, isNew] = lastOfKind.try_emplace(kind, i);
    if (!isNew) {
      item.after = static_cast<int32_t>(known->second);
      items_[known->second].before = static_cast<int32_t>(i);
      known->second = i;
    }
    touched(i);
  }
  std::vector<uint8_t> met(count);
  for (uint32_t i = 0; i < count; ++i) {
    std::fill(met.begin(), met.end(), 0);
    for (uint32_t t = items_[i].stepBegin; t < items_[i].stepEnd; ++t)
      for (uint32_t m = steps_[t].first; m < steps_[t].last; ++m)
        if (members_[m] != i && met[members_[m]] == 0) {
          met[members_[m]] = 1;
          neighbours_[i].push_back(members_[m]);
        }
  }
  for (uint32_t t = 0; t < steps_.size(); ++t)
    if (isStepDirty_[t] == 0) { // one of fixed items alone
      isStepDirty_[t] = 1;
      dirtySteps_.push_back(t);
    }
}

void OffsetDomains::mark() { levels_.push_back({saved_.size(), savedRows_.size()}); }

void OffsetDomains::undo() {
  const Level level = levels_.back();
  levels_.pop_back();
  while (saved_.size() > level.saved) {
    const Saved &saved = saved_.back();
    const size_t at = savedRows_.size() - 2 * static_cast<size_t>(words_);
    items_[saved.item] = saved.state;
    savedAt_[saved.item] = 0;
    noteChanged(saved.item);
    std::copy_n(savedRows_.begin() + static_cast<ptrdiff_t>(at), words_,
                rows_.begin() + static_cast<ptrdiff_t>(saved.item) * words_);
    std::copy_n(savedRows_.begin() + static_cast<ptrdiff_t>(at + words_), words_,
                covers_.begin() + static_cast<ptrdiff_t>(saved.item) * words_);
    savedRows_.resize(at);
    saved_.pop_back();
  }
  forgetDirty();
  for (const uint32_t item : unrested_)
    isUnrested_[item] = 0;
  unrested_.clear();
}

void OffsetDomains::forgetDirty() {
  for (const uint32_t item : dirtyItems_)
    isDirty_[item] = 0;
  dirtyItems_.clear();
  for (const uint32_t step : dirtySteps_)
    isStepDirty_[step] = 0;
  dirtySteps_.clear();
}

void OffsetDomains::noteChanged(uint32_t item) {
  for (uint32_t t = items_[item].stepBegin; t < items_[item].stepEnd; ++t)
    if (areEndsStale_[t] == 0) {
      areEndsStale_[t] = 1;
      staleSteps_.push_back(t);
    }
}

void OffsetDomains::save(uint32_t item) {
  if (savedAt_[item] == levels_.size())
    return;
  savedAt_[item] = static_cast<uint32_t>(levels_.size());
  saved_.push_back({item, items_[item]});
  const auto begin = static_cast<ptrdiff_t>(item) * words_;
  savedRows_.insert(savedRows_.end(), rows_.begin() + begin, rows_.begin() + begin + words_);
  savedRows_.insert(savedRows_.end(), covers_.begin() + begin, covers_.begin() + begin + words_);
}

void OffsetDomains::touched(uint32_t item) {
  if (isDirty_[item] != 0)
    return;
  isDirty_[item] = 1;
  dirtyItems_.push_back(item);
}

bool OffsetDomains::propagate(WorkMeter &meter) {
  culpritItem_ = culpritStep_ = kNone;
  work_ = 8;
  bool holds = true;
  size_t nextStep = 0;
  for (;;) {
    while (holds && !dirtyItems_.empty()) {
      const uint32_t item = dirtyItems_.back();
      dirtyItems_.pop_back();
      isDirty_[item] = 0;
      holds = refresh(item);
    }
    if (!holds)
      break;
    if (nextStep == dirtySteps_.size()) {
      for (const uint32_t step : staleSteps_) {
        areEndsStale_[step] = 0;
        findEnds(step);
      }
      staleSteps_.clear();
      for (const uint32_t item : unrested_) {
        isUnrested_[item] = 0;
        restOnSomething(item);
      }
      unrested_.clear();
      if (dirtyItems_.empty())
        break;
      continue;
    }
    const uint32_t step = dirtySteps_[nextStep++];
    isStepDirty_[step] = 0;
    holds = filterStep(step);
  }
  forgetDirty();
  meter.spend(work_ / kWordsPerUnit);
  return holds;
}

/// After a change of its row: bounds, cover, and what follows for its neighbours.
bool OffsetDomains::refresh(uint32_t index) {
  Item &item = items_[index];
  const uint64_t *const row = rows_.data() + static_cast<size_t>(index) * words_;
  const bool hadCore = item.count > 0 && item.high < item.low + item.size;
  const uint32_t oldLow = item.low;
  const uint32_t oldHigh = item.high;
  uint32_t count = 0;
  for (uint32_t w = 0; w < words_; ++w)
    count += static_cast<uint32_t>(std::popcount(row[w]));
  item.count = count;
  work_ += 3 * static_cast<uint64_t>(words_);
  noteChanged(index);
  if (count == 0) {
    culpritItem_ = index;
    return false;
  }
  item.low = static_cast<uint32_t>(lowestBit(row, words_, 0));
  item.high = static_cast<uint32_t>(highestBit(row, words_, 0));
  uint64_t *const cover = covers_.data() + static_cast<size_t>(index) * words_;
  std::copy_n(row, words_, cover);
  if (count == 1)
    setRange(cover, item.low, item.low + item.size);
  else
    stretch(cover, words_, item.size);
  for (uint32_t t = item.stepBegin; t < item.stepEnd; ++t)
    if (isStepDirty_[t] == 0) {
      isStepDirty_[t] = 1;
      dirtySteps_.push_back(t);
    }
  orderTwins(index);
  if (item.high >= item.low + item.size || (hadCore && oldLow == item.low && oldHigh == item.high))
    return true;
  work_ += neighbours_[index].size() * 2;
  for (const uint32_t other : neighbours_[index])
    keepClear(other, item.high, item.low + item.size);
  return true;
}

/// Of equal items the earlier lies below.
void OffsetDomains::orderTwins(uint32_t index) {
  const Item &item = items_[index];
  if (item.before >= 0)
    keepRange(static_cast<uint32_t>(item.before), item.low + item.size, capacity_);
  if (item.after >= 0 && item.high >= item.size)
    keepRange(static_cast<uint32_t>(item.after), 0, item.high - item.size);
}

/// Leaves the offsets from low to high alone.
void OffsetDomains::keepRange(uint32_t index, uint32_t low, uint32_t high) {
  takeRange(index, 0, low);
  takeRange(index, high + 1, capacity_ + 1);
}

/// Takes the offsets at which the item would reach into [clearBegin, clearEnd).
void OffsetDomains::keepClear(uint32_t index, uint32_t clearBegin, uint32_t clearEnd) {
  const uint32_t size = items_[index].size;
  takeRange(index, clearBegin + 1 > size ? clearBegin + 1 - size : 0, clearEnd);
}

void OffsetDomains::takeRange(uint32_t index, uint32_t begin, uint32_t end) {
  uint64_t *const row = rows_.data() + static_cast<size_t>(index) * words_;
  if (nextBit(row, words_, begin) >= end)
    return;
  save(index);
  clearRange(row, begin, end);
  touched(index);
}

} // namespace gantry::plan

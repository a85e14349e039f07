#include "engine/plan/valley_pockets.h"

#include <algorithm>

namespace gantry::plan {

namespace {

/// A larger pocket is judged by the sum of all sizes alone.
constexpr int64_t kMostUnits = 4096;

/// Adds every sum that one more size makes: sums |= sums << size.
void addShifted(std::vector<uint64_t> &sums, uint64_t size) {
  const size_t words = size / 64;
  const uint32_t bits = size % 64;
  for (size_t w = sums.size(); w-- > words;) {
    uint64_t shifted = sums[w - words] << bits;
    if (bits != 0 && w > words)
      shifted |= sums[w - words - 1] >> (64 - bits);
    sums[w] |= shifted;
  }
}

} // namespace

template <typename Unit>
ValleyPockets<Unit>::ValleyPockets(const ItemTable<Unit> &table) : table_(table) {
  std::vector<std::vector<Range>> ofStep(table.stepCount);
  for (const Item<Unit> &item : table.items)
    if (item.isFixed())
      for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c)
        for (uint32_t t = table.covers[c].begin; t < table.covers[c].end; ++t)
          ofStep[t].push_back({item.fixedOffset, item.fixedOffset + table.covers[c].size});
  first_.push_back(0);
  for (std::vector<Range> &ranges : ofStep) {
    std::sort(ranges.begin(), ranges.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    for (const Range &range : ranges) {
      const bool isFirst = ranges_.size() == first_.back();
      if (!isFirst && ranges_.back().end >= range.begin)
        ranges_.back().end = std::max(ranges_.back().end, range.end);
      else
        ranges_.push_back(range);
    }
    first_.push_back(static_cast<uint32_t>(ranges_.size()));
  }
}

template <typename Unit>
Unit ValleyPockets<Unit>::takenAbove(uint32_t step, Unit offset, Unit capacity) const {
  Unit taken = 0;
  for (uint32_t r = first_[step]; r < first_[step + 1]; ++r)
    taken +=
        std::max<Unit>(std::min(ranges_[r].end, capacity) - std::max(ranges_[r].begin, offset), 0);
  return taken;
}

template <typename Unit>
template <typename Judge>
Unit ValleyPockets<Unit>::sumOverPockets(uint32_t step, Unit floor, Unit capacity,
                                         const std::vector<Candidate> &candidates, Judge judge) {
  Unit loss = 0;
  Unit begin = floor;
  for (uint32_t r = first_[step]; r <= first_[step + 1]; ++r) {
    const bool isLast = r == first_[step + 1];
    const Unit end = isLast ? capacity : std::min(ranges_[r].begin, capacity);
    if (end > begin) {
      listEligible(begin, end, candidates);
      loss += judge(end - begin);
    }
    if (!isLast)
      begin = std::max(begin, ranges_[r].end);
  }
  return loss;
}

template <typename Unit>
void ValleyPockets<Unit>::listEligible(Unit begin, Unit end,
                                       const std::vector<Candidate> &candidates) {
  eligible_.clear();
  work_ += candidates.size();
  for (const Candidate &candidate : candidates) {
    const Unit highest = end - candidate.size;
    if (candidate.low <= highest &&
        table_.allowedFrom(table_.items[candidate.item], std::max(candidate.low, begin)) <= highest)
      eligible_.push_back(candidate.size);
  }
}

template <typename Unit> Unit ValleyPockets<Unit>::firstFitLoss(Unit room) const {
  for (const Unit size : eligible_)
    if (size <= room)
      room -= size;
  return room;
}

template <typename Unit> Unit ValleyPockets<Unit>::leastLoss(Unit room) {
  Unit sum = 0;
  for (const Unit size : eligible_)
    sum += size;
  if (sum <= room)
    return room - sum;
  if (room > kMostUnits)
    return 0;
  sums_.assign(static_cast<size_t>(room) / 64 + 1, 0);
  sums_[0] = 1;
  for (const Unit size : eligible_)
    addShifted(sums_, static_cast<uint64_t>(size));
  work_ += eligible_.size() * sums_.size() / 8;
  // Bits above the room may be set in the last word.
  for (Unit loss = 0;; ++loss) {
    const auto at = static_cast<uint64_t>(room - loss);
    if ((sums_[at / 64] >> (at % 64) & 1) != 0)
      return loss;
  }
}

template <typename Unit>
bool ValleyPockets<Unit>::canFill(uint32_t step, Unit floor, Unit capacity,
                                  const std::vector<Candidate> &candidates) {
  Unit slack = capacity - floor - takenAbove(step, floor, capacity);
  for (const Candidate &candidate : candidates)
    slack -= candidate.size;
  const auto loss = [&](auto judge) {
    return sumOverPockets(step, floor, capacity, candidates, judge);
  };
  return slack >= 0 && (loss([&](Unit room) { return firstFitLoss(room); }) <= slack ||
                        loss([&](Unit room) { return leastLoss(room); }) <= slack);
}

template class ValleyPockets<int32_t>;
template class ValleyPockets<int64_t>;

} // namespace gantry::plan

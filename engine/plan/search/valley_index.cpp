// Implements ValleyIndex.
#include "engine/plan/search/valley_index.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace gantry::plan {

ValleyIndex::ValleyIndex(std::span<const uint32_t> begin, std::span<const uint32_t> end,
                         uint32_t stepCount)
    : items_(begin.size()), placeOf_(begin.size()), entries_(begin.size()),
      firstOf_(stepCount + 2, 0) {
  const uint32_t count = static_cast<uint32_t>(begin.size());
  for (const uint32_t step : begin)
    ++firstOf_[step + 1];
  std::partial_sum(firstOf_.begin(), firstOf_.end(), firstOf_.begin());
  std::vector<uint32_t> next(firstOf_.begin(), firstOf_.end());
  for (uint32_t item = 0; item < count; ++item)
    items_[next[begin[item]]++] = item;
  for (uint32_t step = 0; step < stepCount; ++step)
    std::sort(items_.begin() + firstOf_[step], items_.begin() + firstOf_[step + 1],
              [&](uint32_t a, uint32_t b) { return end[a] != end[b] ? end[a] < end[b] : a < b; });
  for (uint32_t place = 0; place < count; ++place) {
    placeOf_[items_[place]] = place;
    entries_[place].end = end[items_[place]];
  }
  leaves_ = std::bit_ceil(std::max<uint32_t>(1, (count + kBlock - 1) / kBlock));
  tree_.resize(size_t{leaves_} * 2);
}

void ValleyIndex::reset(std::span<const uint32_t> rank) {
  for (uint32_t place = 0; place < items_.size(); ++place)
    entries_[place].rank = rank[items_[place]];
  for (uint32_t leaf = 0; leaf < leaves_; ++leaf)
    tree_[leaves_ + leaf] = summarize(leaf);
  for (uint32_t node = leaves_; node-- > 1;)
    tree_[node] = combine(tree_[size_t{node} * 2], tree_[size_t{node} * 2 + 1]);
}

ValleyIndex::Summary ValleyIndex::combine(const Summary &a, const Summary &b) {
  return {std::max(a.maxRank, b.maxRank), std::min(a.minEnd, b.minEnd)};
}

ValleyIndex::Summary ValleyIndex::summarize(uint32_t block) const {
  Summary summary;
  const size_t last = std::min(entries_.size(), (size_t{block} + 1) * kBlock);
  for (size_t place = size_t{block} * kBlock; place < last; ++place)
    if (entries_[place].rank != 0)
      summary = combine(summary, {entries_[place].rank, entries_[place].end});
  return summary;
}

void ValleyIndex::remove(uint32_t item) {
  const uint32_t place = placeOf_[item];
  entries_[place].rank = 0;
  uint32_t node = leaves_ + place / kBlock;
  tree_[node] = summarize(place / kBlock);
  while (node > 1) {
    node /= 2;
    const Summary summary = combine(tree_[size_t{node} * 2], tree_[size_t{node} * 2 + 1]);
    if (summary.maxRank == tree_[node].maxRank && summary.minEnd == tree_[node].minEnd)
      return;
    tree_[node] = summary;
  }
}

void ValleyIndex::search(uint32_t node, uint32_t firstBlock, uint32_t blocks) {
  ++visits_;
  const Summary &summary = tree_[node];
  const uint32_t firstPlace = firstBlock * kBlock;
  if (summary.maxRank <= foundRank_ || summary.minEnd > queryEnd_ || firstPlace >= queryLast_ ||
      firstPlace + blocks * kBlock <= queryFirst_)
    return;
  if (blocks == 1) {
    const uint32_t last = std::min(queryLast_, firstPlace + kBlock);
    for (uint32_t place = std::max(queryFirst_, firstPlace); place < last; ++place) {
      const Entry &entry = entries_[place];
      if (entry.rank > foundRank_ && entry.end <= queryEnd_) {
        foundRank_ = entry.rank;
        foundPlace_ = place;
      }
    }
    return;
  }
  const uint32_t left = node * 2;
  const uint32_t half = blocks / 2;
  if (tree_[left].maxRank >= tree_[left + 1].maxRank) {
    search(left, firstBlock, half);
    search(left + 1, firstBlock + half, half);
  } else {
    search(left + 1, firstBlock + half, half);
    search(left, firstBlock, half);
  }
}

uint32_t ValleyIndex::bestOfPlaces(uint32_t first, uint32_t last, uint32_t lastEnd) {
  if (first >= last)
    return kNone;
  queryFirst_ = first;
  queryLast_ = last;
  queryEnd_ = lastEnd;
  foundRank_ = 0;
  search(1, 0, leaves_);
  return foundRank_ == 0 ? kNone : items_[foundPlace_];
}

uint32_t ValleyIndex::best(uint32_t firstBegin, uint32_t lastBegin, uint32_t lastEnd) {
  return bestOfPlaces(firstOf_[firstBegin], firstOf_[lastBegin + 1], lastEnd);
}

uint32_t ValleyIndex::bestExactly(uint32_t begin, uint32_t end) {
  const auto first = entries_.begin() + firstOf_[begin];
  const auto last = entries_.begin() + firstOf_[begin + 1];
  const auto from = std::lower_bound(
      first, last, end, [](const Entry &entry, uint32_t limit) { return entry.end < limit; });
  const auto to = std::upper_bound(
      from, last, end, [](uint32_t limit, const Entry &entry) { return limit < entry.end; });
  return bestOfPlaces(static_cast<uint32_t>(from - entries_.begin()),
                      static_cast<uint32_t>(to - entries_.begin()), end);
}

} // namespace gantry::plan

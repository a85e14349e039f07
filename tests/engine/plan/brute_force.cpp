#include "tests/engine/plan/brute_force.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace gantry::plan {

namespace {

constexpr uint64_t kNowhere = UINT64_MAX;

class Search {
public:
  explicit Search(const std::vector<Value> &values)
      : values_(values), offsets_(values.size(), kNowhere) {
    for (const Value &value : values)
      if (value.sizeBytes != 0)
        alignments_.insert(value.alignment);
    if (!alignments_.empty())
      smallest_ = *alignments_.begin();
  }

  /// Returns the minimum height of the values that `part` marks.
  uint64_t run(const std::vector<bool> &part) {
    best_ = UINT64_MAX;
    left_ = 0;
    std::fill(offsets_.begin(), offsets_.end(), kNowhere);
    part_ = part;
    for (size_t i = 0; i < values_.size(); ++i)
      left_ += isOpen(i) ? 1 : 0;
    place(0, 0, 0);
    return best_;
  }

private:
  /// Returns whether the value belongs to the part, has bytes, and is not placed.
  bool isOpen(size_t i) const {
    return part_[i] && values_[i].sizeBytes != 0 && offsets_[i] == kNowhere;
  }

  uint64_t occupied(size_t i) const {
    return (values_[i].sizeBytes + smallest_ - 1) / smallest_ * smallest_;
  }

  bool meet(size_t a, size_t b) const {
    return values_[a].firstUse <= values_[b].lastUse && values_[b].firstUse <= values_[a].lastUse;
  }

  bool fits(size_t i, uint64_t offset) const {
    if (offset % values_[i].alignment != 0)
      return false;
    for (size_t j = 0; j < values_.size(); ++j) {
      if (j == i || offsets_[j] == kNowhere || !meet(i, j))
        continue;
      if (offset + occupied(i) > offsets_[j] && offsets_[j] + occupied(j) > offset)
        return false;
    }
    return true;
  }

  /// Returns whether, at some command, the unplaced values alive there cannot fit below the best
  /// height. Unplaced values start at `lowest` or above, so they lie above every value that is
  /// alive at the command and placed below `lowest`.
  bool isHopeless(uint64_t lowest) const {
    uint32_t last = 0;
    for (const Value &value : values_)
      last = std::max(last, value.lastUse);
    for (uint32_t command = 0; command <= last; ++command) {
      uint64_t floor = lowest;
      uint64_t sum = 0;
      for (size_t i = 0; i < values_.size(); ++i) {
        if (!part_[i] || command < values_[i].firstUse || values_[i].lastUse < command)
          continue;
        if (offsets_[i] == kNowhere)
          sum += occupied(i);
        else if (offsets_[i] < lowest)
          floor = std::max(floor, offsets_[i] + occupied(i));
      }
      if (sum > 0 && floor + sum >= best_)
        return true;
    }
    return false;
  }

  /// Places the open values in all ways and updates the best height. Values are placed in ascending
  /// order of (offset, index): the next one lies above `lowest`, or at `lowest` with an index of at
  /// least `from`. `height` is the height of the placed values.
  void place(uint64_t lowest, size_t from, uint64_t height) {
    if (height >= best_ || isHopeless(lowest))
      return;
    if (left_ == 0) {
      best_ = height;
      return;
    }
    std::set<uint64_t> edges = {0};
    for (size_t j = 0; j < values_.size(); ++j)
      if (offsets_[j] != kNowhere)
        edges.insert(offsets_[j] + occupied(j));
    std::set<uint64_t> candidates;
    for (const uint64_t edge : edges)
      for (const uint64_t alignment : alignments_)
        candidates.insert((edge + alignment - 1) / alignment * alignment);
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!isOpen(i))
        continue;
      for (auto at = candidates.lower_bound(lowest); at != candidates.end(); ++at) {
        if (*at + occupied(i) >= best_)
          break;
        if ((*at == lowest && i < from) || !fits(i, *at))
          continue;
        offsets_[i] = *at;
        --left_;
        place(*at, i + 1, std::max(height, *at + occupied(i)));
        ++left_;
        offsets_[i] = kNowhere;
      }
    }
  }

  const std::vector<Value> &values_;
  uint64_t best_ = UINT64_MAX;
  std::vector<bool> part_;
  std::vector<uint64_t> offsets_;
  std::set<uint64_t> alignments_;
  uint64_t smallest_ = 1; // All sizes are rounded up to this alignment.
  size_t left_ = 0;       // Open values.
};

} // namespace

uint64_t minHeight(const std::vector<Value> &values) {
  // Groups of values whose lifetimes do not overlap are independent.
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a].firstUse < values[b].firstUse; });
  Search search(values);
  uint64_t height = 0;
  for (size_t k = 0; k < order.size();) {
    std::vector<bool> part(values.size());
    uint32_t last = values[order[k]].lastUse;
    for (; k < order.size() && values[order[k]].firstUse <= last; ++k) {
      part[order[k]] = true;
      last = std::max(last, values[order[k]].lastUse);
    }
    height = std::max(height, search.run(part));
  }
  return height;
}

} // namespace gantry::plan

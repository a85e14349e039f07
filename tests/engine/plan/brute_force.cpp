#include "tests/engine/plan/brute_force.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace gantry::plan {

namespace {

constexpr uint64_t kNowhere = UINT64_MAX;

class Search {
public:
  Search(const std::vector<Value> &values, const Constraints &constraints, uint64_t below)
      : values_(values), constraints_(constraints), below_(below), best_(below),
        offsets_(values.size(), kNowhere) {
    for (const Value &value : values)
      if (value.sizeBytes != 0)
        alignments_.insert(value.alignment);
    if (!alignments_.empty())
      smallest_ = *alignments_.begin();
  }

  /// Places the values of `part` alone.
  std::optional<uint64_t> run(const std::vector<bool> &part) {
    best_ = below_;
    left_ = 0;
    std::fill(offsets_.begin(), offsets_.end(), kNowhere);
    part_ = part;
    uint64_t height = 0;
    for (const Pin &pin : constraints_.pins) {
      if (values_[pin.value].sizeBytes == 0 || !part[pin.value])
        continue;
      if (!fits(pin.value, pin.offset))
        return std::nullopt;
      offsets_[pin.value] = pin.offset;
      height = std::max(height, pin.offset + occupied(pin.value));
    }
    for (size_t i = 0; i < values_.size(); ++i)
      left_ += isOpen(i) ? 1 : 0;
    place(0, 0, height);
    return best_ == below_ ? std::nullopt : std::optional(best_);
  }

private:
  bool isOpen(size_t i) const {
    return part_[i] && values_[i].sizeBytes != 0 && offsets_[i] == kNowhere;
  }

private:
  uint64_t occupied(size_t i) const {
    return (values_[i].sizeBytes + smallest_ - 1) / smallest_ * smallest_;
  }

  bool aliveAt(size_t i, uint64_t command) const {
    if (command < values_[i].firstUse || command > values_[i].lastUse)
      return false;
    for (const Gap &gap : constraints_.gaps)
      if (gap.value == i && gap.firstCommand <= command && command <= gap.lastCommand)
        return false;
    return true;
  }

  bool meet(size_t a, size_t b) const {
    const uint64_t last = std::min(values_[a].lastUse, values_[b].lastUse);
    for (uint64_t c = std::max(values_[a].firstUse, values_[b].firstUse); c <= last; ++c)
      if (aliveAt(a, c) && aliveAt(b, c))
        return true;
    return false;
  }

  bool mayShare(size_t a, size_t b, bool &required) const {
    bool may = false;
    for (const Sharing &sharing : constraints_.sharings)
      if ((sharing.first == a && sharing.second == b) ||
          (sharing.first == b && sharing.second == a)) {
        may = true;
        required = required || sharing.required;
      }
    return may;
  }

  bool fits(size_t i, uint64_t offset) const {
    if (offset % values_[i].alignment != 0)
      return false;
    for (size_t j = 0; j < values_.size(); ++j) {
      if (j == i || offsets_[j] == kNowhere)
        continue;
      bool required = false;
      const bool may = mayShare(i, j, required);
      if (required && offsets_[j] != offset)
        return false;
      const bool apart = offset + occupied(i) <= offsets_[j] || offsets_[j] + occupied(j) <= offset;
      if (!apart && meet(i, j) && !(may && offsets_[j] == offset))
        return false;
    }
    for (const Zone &zone : constraints_.zones) {
      bool meets = false;
      for (uint64_t c = values_[i].firstUse; c <= values_[i].lastUse; ++c)
        meets = meets || (aliveAt(i, c) && zone.firstUse <= c && c <= zone.lastUse);
      if (meets && zone.sizeBytes != 0 && zone.offset < offset + occupied(i) &&
          offset < zone.offset + zone.sizeBytes)
        return false;
    }
    return true;
  }

  /// Whether what is alive at some command and not placed cannot fit above `lowest` any more. Those
  /// that may share with anything count once, as the largest of them.
  bool isHopeless(uint64_t lowest) const {
    uint32_t last = 0;
    for (const Value &value : values_)
      last = std::max(last, value.lastUse);
    for (uint32_t c = 0; c <= last; ++c) {
      uint64_t floor = lowest; // nothing to come reaches below what is placed lower than `lowest`
      uint64_t sum = 0;
      uint64_t shared = 0;
      for (size_t i = 0; i < values_.size(); ++i) {
        if (!part_[i] || !aliveAt(i, c))
          continue;
        if (offsets_[i] != kNowhere) {
          if (offsets_[i] < lowest)
            floor = std::max(floor, offsets_[i] + occupied(i));
          continue;
        }
        bool shares = false;
        for (const Sharing &sharing : constraints_.sharings)
          shares = shares || sharing.first == i || sharing.second == i;
        if (shares)
          shared = std::max(shared, occupied(i));
        else
          sum += occupied(i);
      }
      if (sum + shared > 0 && floor + sum + shared >= best_)
        return true;
    }
    return false;
  }

  /// Those to come lie at `lowest` with a number of at least `from`, or above it.
  void place(uint64_t lowest, size_t from, uint64_t height) {
    if (height >= best_ || isHopeless(lowest))
      return;
    if (left_ == 0) {
      best_ = height;
      return;
    }
    std::set<uint64_t> edges = {0};
    for (size_t j = 0; j < values_.size(); ++j)
      if (offsets_[j] != kNowhere) {
        edges.insert(offsets_[j]);
        edges.insert(offsets_[j] + occupied(j));
      }
    for (const Zone &zone : constraints_.zones)
      edges.insert(zone.offset + zone.sizeBytes);
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
  const Constraints &constraints_;
  uint64_t below_;
  uint64_t best_;
  std::vector<bool> part_;
  std::vector<uint64_t> offsets_;
  std::set<uint64_t> alignments_;
  uint64_t smallest_ = 1; // what all sizes are rounded up to
  size_t left_ = 0;
};

} // namespace

std::optional<uint64_t> leastHeight(const std::vector<Value> &values,
                                    const Constraints &constraints, uint64_t below) {
  // What does not meet in time is independent, unless it must have one offset.
  bool required = false;
  for (const Sharing &sharing : constraints.sharings)
    required = required || sharing.required;
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a].firstUse < values[b].firstUse; });
  Search search(values, constraints, below);
  uint64_t height = 0;
  for (size_t k = 0; k < order.size();) {
    std::vector<bool> part(values.size());
    uint32_t last = values[order[k]].lastUse;
    for (; k < order.size() && (required || values[order[k]].firstUse <= last); ++k) {
      part[order[k]] = true;
      last = std::max(last, values[order[k]].lastUse);
    }
    const std::optional<uint64_t> least = search.run(part);
    if (!least)
      return std::nullopt;
    height = std::max(height, *least);
  }
  return height;
}

} // namespace gantry::plan

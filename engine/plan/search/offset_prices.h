// OffsetPrices adds up the prices of ranges of offsets and lists the runs of offsets with equal
// sums. The ejection search (ejection_search.h) gives each placed item a price and finds with this
// class the offsets at which the items in the way of another item have the lowest sum of prices.
//
// If there are few offsets, an array holds the price change at each offset, and a bitmap marks the
// offsets that have a change. If there are many, the changes are kept in a list and sorted. Header
// only. Threads: one at a time per object.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::plan {

/// A caller calls begin(), then add() for each range, then forEachRun() once, and may begin again.
class OffsetPrices {
public:
  using Unit = int64_t;

  /// Returns whether the offsets up to `highest` are few enough for the array.
  static bool isDense(Unit highest) { return highest < kMaxDense; }

  /// Sets the price of the offsets from 0 to `highest` to 0. `highest` must not be negative.
  void begin(Unit highest) {
    end_ = highest + 1;
    price_ = 0;
    isDense_ = isDense(highest);
    if (isDense_ && static_cast<size_t>(end_) >= changes_.size()) {
      changes_.resize(static_cast<size_t>(end_) + 1);
      marks_.resize(static_cast<size_t>(end_) / 64 + 1);
    }
  }

  /// Adds `price` to the offsets strictly between `below` and `end`.
  void add(Unit below, Unit end, int64_t price) {
    change(std::clamp<Unit>(below + 1, 0, end_), price); // A change at end_ has no effect.
    change(std::clamp<Unit>(end, 0, end_), -price);
  }

  /// Calls visit(first, last, price) for each run in the order of offsets; `last` is inclusive.
  template <typename Visit> void forEachRun(Visit visit) {
    Unit first = 0;
    const auto changeAt = [&](Unit offset, int64_t by) {
      if (by == 0 || offset == end_)
        return;
      if (offset > 0)
        visit(first, offset - 1, price_);
      first = offset;
      price_ += by;
    };
    if (isDense_) {
      for (size_t w = 0; w <= static_cast<size_t>(end_) / 64; ++w)
        for (uint64_t bits = std::exchange(marks_[w], 0); bits != 0; bits &= bits - 1) {
          const size_t at = w * 64 + static_cast<size_t>(std::countr_zero(bits));
          changeAt(static_cast<Unit>(at), std::exchange(changes_[at], 0));
        }
    } else {
      std::sort(sparse_.begin(), sparse_.end());
      for (size_t k = 0; k < sparse_.size();) {
        const Unit offset = sparse_[k].first;
        int64_t by = 0;
        for (; k < sparse_.size() && sparse_[k].first == offset; ++k)
          by += sparse_[k].second;
        changeAt(offset, by);
      }
      sparse_.clear();
    }
    visit(first, end_ - 1, price_);
  }

private:
  static constexpr Unit kMaxDense = 1 << 14;

  void change(Unit offset, int64_t by) {
    if (!isDense_) {
      sparse_.emplace_back(offset, by);
      return;
    }
    const auto at = static_cast<size_t>(offset);
    changes_[at] += by;
    marks_[at / 64] |= uint64_t{1} << (at % 64);
  }

  Unit end_ = 0;
  int64_t price_ = 0; // The price of the run that forEachRun() visits.
  bool isDense_ = false;
  std::vector<int64_t> changes_; // Price change at each offset; all 0 between two uses.
  std::vector<uint64_t> marks_;  // One bit per offset that has a change.
  std::vector<std::pair<Unit, int64_t>> sparse_;
};

} // namespace gantry::plan

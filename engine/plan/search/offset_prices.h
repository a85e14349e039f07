// Finds the cheapest offsets of an item: adds up prices of ranges of offsets, and reads the sums as
// runs of equal price.
//
// Where there are few offsets, the price changes are kept in an array with one bit per offset that
// has a change; where there are many, the changes are sorted. Header only. Threads: one at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::plan {

/// Use: begin(), then add() for each range, then forEachRun() once.
class OffsetPrices {
public:
  using Unit = int64_t;

  /// Returns whether offsets up to `highest` are few enough for the array.
  static bool isDense(Unit highest) { return highest < kMaxDense; }

  /// Starts with the offsets from 0 to `highest`, which is not negative, all at price 0.
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

  /// Calls visit(first, last, price) for each run, `last` included, by ascending offset.
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
  int64_t price_ = 0; // The price of the run that forEachRun is in.
  bool isDense_ = false;
  std::vector<int64_t> changes_; // Price change at each offset; all 0 between two uses.
  std::vector<uint64_t> marks_;  // One bit per offset that has a change.
  std::vector<std::pair<Unit, int64_t>> sparse_;
};

} // namespace gantry::plan

// What each offset would cost an item: ranges of offsets with prices, summed, and read as runs of
// one price.
//
// Few offsets are kept as an array of changes with a bit for each that has one, many are sorted.
// Header only. Threads: one at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::plan {

class OffsetPrices {
public:
  using Unit = int64_t;

  /// Whether offsets up to highest are few enough that nothing is sorted.
  static bool isDense(Unit highest) { return highest < kMostDense; }

  /// Offsets from 0 to highest, which is not negative, each at no price.
  void begin(Unit highest) {
    end_ = highest + 1;
    price_ = 0;
    isDense_ = isDense(highest);
    if (isDense_ && static_cast<size_t>(end_) >= changes_.size()) {
      changes_.resize(static_cast<size_t>(end_) + 1);
      marks_.resize(static_cast<size_t>(end_) / 64 + 1);
    }
  }

  /// The offsets strictly between below and end cost so much more.
  void add(Unit below, Unit end, int64_t price) {
    change(std::clamp<Unit>(below + 1, 0, end_), price); // behind the highest: of no account
    change(std::clamp<Unit>(end, 0, end_), -price);
  }

  /// Calls visit(first, last, price) for each run, last included, by ascending offset. Then begin()
  /// comes next.
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
  static constexpr Unit kMostDense = 1 << 14;

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
  int64_t price_ = 0; // up to where forEachRun is
  bool isDense_ = false;
  std::vector<int64_t> changes_; // of the price at an offset; all 0 outside of a use
  std::vector<uint64_t> marks_;
  std::vector<std::pair<Unit, int64_t>> sparse_;
};

} // namespace gantry::plan

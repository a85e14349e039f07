// The offsets that each free item of a problem may still have below a capacity, as rows of bits,
// and what follows from them for each other: the inference of domain_search.h.
//
// Steps whose items are all alive in a neighbouring step are left out. Inference, until nothing
// changes:
//  - Where the lowest and the highest offset of an item leave bytes that it covers in any case,
//    whatever meets it keeps clear of them.
//  - In each step the addresses that no item can cover any more are lost; they must not exceed the
//    step's slack, the capacity less the sizes of all its items. Where they equal it, all others
//    must be covered: an address that one item alone can cover is that item's, and an item begins
//    where another can end, or something fixed does, and ends where another can begin.
//  - Where it equals all but a little, no more than that lies empty below and above an item.
//  - A run of addresses between what is placed must be filled, but for what the step can spare: by
//    some sum of the sizes of those that can lie there (knapsack reasoning: Trick 2003). An item
//    without which there is no such sum lies there, and one with which there is none does not.
//  - An item rests on something, as far as its alignment lets it: a placement with the smallest sum
//    of offsets has all items pushed down.
//  - Of equal items the first lies below the second.
// (Domains as sets of positions and reasoning on what must be covered are those of exact packing,
// as in Beldiceanu, Carlsson, Demassey & Poder 2010, "New filtering for the cumulative constraint
// in the context of non-overlapping rectangles".)
//
// A trail undoes: mark() begins a level, undo() returns to the last.
//
// Threads: one at a time.
#pragma once

#include "engine/plan/bit_rows.h"
#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

class OffsetDomains {
public:
  struct Item {
    uint32_t id = 0; // in the problem
    uint32_t stepBegin = 0;
    uint32_t stepEnd = 0;
    uint32_t size = 0;      // in units
    uint32_t low = 0;       // the lowest offset left
    uint32_t high = 0;      // the highest
    uint32_t count = 0;     // of offsets left
    uint32_t alignment = 1; // in units
    int32_t after = -1;     // an equal item that lies below
    int32_t before = -1;
    bool isPlaced() const { return count == 1; }
  };
  struct Step {
    uint32_t first = 0; // of its items in membersOf
    uint32_t last = 0;
    uint32_t slack = 0;
    bool isTight = false; // every address that can be covered must be
  };

  /// capacity / unit addresses; only what fits OffsetDomains::canHold.
  OffsetDomains(const Problem &problem, uint64_t unit, uint32_t capacity);

  /// What cannot fit at all; then nothing else may be called.
  bool isRefuted() const { return refuted_; }
  const std::vector<Item> &items() const { return items_; }
  const std::vector<Step> &steps() const { return steps_; }
  uint32_t memberAt(uint32_t index) const { return members_[index]; }
  const uint64_t *row(uint32_t item) const {
    return rows_.data() + static_cast<size_t>(item) * words_;
  }
  const uint64_t *coverOf(uint32_t item) const {
    return covers_.data() + static_cast<size_t>(item) * words_;
  }
  /// What fixed items leave of a step.
  const uint64_t *roomOf(uint32_t step) const {
    return room_.data() + static_cast<size_t>(step) * words_;
  }
  uint32_t words() const { return words_; }
  uint32_t capacity() const { return capacity_; }

  /// Whether undoing takes so much memory that a search had better begin anew.
  bool isTrailFull() const { return savedRows_.size() > kMostSavedWords; }

  void mark();
  void undo();
  size_t levels() const { return levels_.size(); }

  /// Leaves the item the offsets from low to high, inclusive, alone.
  void keep(uint32_t item, uint32_t low, uint32_t high) { keepRange(item, low, high); }
  /// Leaves it all others.
  void take(uint32_t item, uint32_t low, uint32_t high) { takeRange(item, low, high + 1); }
  /// False where some item has no offset left or some step cannot hold its items; culprit() and
  /// culpritStep() say which.
  bool propagate(WorkMeter &meter);
  uint32_t culpritItem() const { return culpritItem_; }
  uint32_t culpritStep() const { return culpritStep_; }

  static constexpr uint32_t kNone = UINT32_MAX;

private:
  static constexpr size_t kMostSavedWords = size_t{1} << 23;

  struct Saved {
    uint32_t item;
    Item state;
  };
  struct Level {
    size_t saved;
    size_t rows;
  };

  void buildSteps(const Problem &problem, uint64_t unit);
  void buildRows(const Problem &problem, uint64_t unit);
  void save(uint32_t item);
  void touched(uint32_t item);
  bool refresh(uint32_t item);
  void takeRange(uint32_t item, uint32_t begin, uint32_t end);
  void keepClear(uint32_t item, uint32_t clearBegin, uint32_t clearEnd);
  void orderTwins(uint32_t item);
  void keepRange(uint32_t item, uint32_t low, uint32_t high);
  bool filterStep(uint32_t step);
  bool fillRuns(uint32_t step, uint32_t lost);
  bool fillRun(uint32_t step, uint32_t begin, uint32_t end, uint32_t spare);
  void noteChanged(uint32_t item);
  void forgetDirty();
  void keepNear(uint32_t step, uint32_t spare);
  void findEnds(uint32_t step);
  void restOnSomething(uint32_t item);

  uint32_t capacity_;
  uint32_t words_;
  bool refuted_ = false;
  std::vector<Item> items_;
  std::vector<Step> steps_;
  std::vector<uint32_t> members_;
  std::vector<std::vector<uint32_t>> neighbours_;
  std::vector<uint64_t> rows_;
  std::vector<uint64_t> covers_; // what an item can cover; kept for those not dirty
  std::vector<uint64_t> room_;

  std::vector<Level> levels_;
  std::vector<Saved> saved_;
  std::vector<uint64_t> savedRows_;
  std::vector<uint32_t> savedAt_; // per item: the level that has saved it, counted from 1

  std::vector<uint32_t> dirtyItems_;
  std::vector<uint8_t> isDirty_;
  std::vector<uint32_t> dirtySteps_;
  std::vector<uint8_t> isStepDirty_;
  std::vector<uint64_t> stepEndsOnce_; // per step: where its items and what is fixed can end
  std::vector<uint64_t> stepEndsTwice_;
  std::vector<uint8_t> areEndsStale_;
  std::vector<uint32_t> staleSteps_;
  std::vector<uint32_t> unrested_; // items that may rest on nothing any more
  std::vector<uint8_t> isUnrested_;
  uint32_t culpritItem_ = kNone;
  uint32_t culpritStep_ = kNone;
  uint64_t work_ = 0;

  std::vector<uint64_t> once_;
  std::vector<uint64_t> twice_;
  std::vector<uint64_t> startsOnce_;
  std::vector<uint64_t> startsTwice_;
  std::vector<uint64_t> endsOnce_;
  std::vector<uint64_t> endsTwice_;
  std::vector<uint64_t> scratch_;
  std::vector<uint64_t> sums_;     // of the items so far
  std::vector<uint64_t> complete_; // one row per item: the sums that those from it on can complete
  std::vector<uint32_t> optional_;
  std::vector<uint64_t> open_;
};

} // namespace gantry::plan

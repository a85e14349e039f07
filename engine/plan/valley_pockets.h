// What fixed items leave free of a step: its pockets, the ranges of offsets between them.
//
// An item lies in one pocket of each step that it covers, so a step has room only where its pockets
// can be filled: the bytes that stay empty in a pocket are at least its size less the largest sum
// of sizes that fits it, of the items that can lie there, and all pockets together must not lose
// more than the step's slack. (Knapsack reasoning as in Trick, "A dynamic programming approach for
// consistency and propagation for knapsack constraints", 2003.) Without fixed items a step is one
// pocket, of which this says nothing.
//
// Threads: one at a time, because of scratch.
#pragma once

#include "engine/plan/item_table.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::plan {

template <typename Unit> class ValleyPockets {
public:
  explicit ValleyPockets(const ItemTable<Unit> &table);

  bool any() const { return !ranges_.empty(); }
  bool any(uint32_t step) const { return first_[step] != first_[step + 1]; }

  /// What fixed items occupy of a step between an offset and a capacity.
  Unit takenAbove(uint32_t step, Unit offset, Unit capacity) const;

  /// Units of a meter since the last call.
  uint64_t takeWork() { return std::exchange(work_, 0); }

  /// What could lie in a step, as far as the pockets go.
  struct Candidate {
    uint32_t item;
    Unit low;  // the lowest offset it can have
    Unit size; // in this step
  };
  /// Whether the pockets of a step can hold all candidates, which are all that is still to be
  /// placed there, and nothing of them lies below the floor.
  bool canFill(uint32_t step, Unit floor, Unit capacity, const std::vector<Candidate> &candidates);

private:
  struct Range {
    Unit begin;
    Unit end;
  };

  /// The sum of what is judged of each pocket, by its size; what can lie in it is in eligible_.
  template <typename Judge>
  Unit sumOverPockets(uint32_t step, Unit floor, Unit capacity,
                      const std::vector<Candidate> &candidates, Judge judge);
  void listEligible(Unit begin, Unit end, const std::vector<Candidate> &candidates);
  /// What stays empty if each takes its place where there is still room: no less than the least.
  Unit firstFitLoss(Unit room) const;
  Unit leastLoss(Unit room);

  const ItemTable<Unit> &table_;
  std::vector<Range> ranges_; // of step t from first_[t] on: what is fixed, ascending and disjoint
  std::vector<uint32_t> first_;
  uint64_t work_ = 0;

  // Scratch.
  std::vector<Unit> eligible_; // the sizes of what can lie in a pocket
  std::vector<uint64_t> sums_; // bit s: some of them have the sum s
};

extern template class ValleyPockets<int32_t>;
extern template class ValleyPockets<int64_t>;

} // namespace gantry::plan

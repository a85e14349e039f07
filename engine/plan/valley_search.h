// The exact search: is there a placement of all items below a capacity?
//
// It fills from below. The floor of a step is the offset below which nothing more will lie there. A
// valley is a run of steps of equal floor whose neighbours on both sides are higher; an item that
// rests on the floor of a valley lies wholly inside it, so nothing is buried beneath. In any
// placement whose items are all pushed down, the lowest item that is still to be placed in a step s
// of a valley either rests on its floor, or lies no lower than the next offset at which anything
// can rest. So a node of the search takes one step and tries each item that can rest there, and at
// last leaves a gap up to that next offset. These choices exclude each other: no placement is
// visited twice by reordering, and the step may be chosen anywhere: the one with the fewest
// choices.
//
// Each node first infers:
//  - the floor of a step rises to the lowest offset that an item still to be placed there can have;
//  - for each step and each offset l, l plus the sizes of all items that cannot lie below l must
//  not
//    exceed the capacity (one machine with release dates: Jackson's rule, 1955);
//  - what fixed items leave of a step must be filled by some of its items (valley_pockets.h);
//  - where no remaining item crosses from one step to the next, the parts are independent: each is
//    solved by itself, the smallest first;
//  - states that failed are remembered (failed_states.h);
//  - of equal items, only the first is tried; an item that spans a level part wholly goes to its
//    floor without a choice.
// The ideas of sections, inference and decomposition are those of Moffitt, "MiniMalloc: A
// Lightweight Memory Allocator for Hardware-Accelerated Machine Learning" (2023), which branches on
// the next item by offset instead.
//
// How long a search takes varies wildly with the order of its choices, so it is run in slices with
// different styles (portfolio.h). Alignments, fixed items, segments and regions are all handled; a
// search that ends without success is a proof that no placement exists.
//
// Threads: one per object. Deterministic: the same calls give the same results.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gantry::plan {

/// Which step of the valleys is decided next. A choice that is forced always comes first.
enum class StepRule {
  kFewestTight,      // the fewest choices, then the least slack
  kFewestLow,        // the fewest choices, then the lowest floor
  kNoGapLow,         // steps that allow no gap, then the fewest choices, then the lowest floor
  kNoGapLowestFirst, // steps that allow no gap, then the lowest floor, then the fewest choices
  kNoGapWide,        // steps that allow no gap, then the fewest choices, then the widest valley
  kCount,
};

/// Which item is tried first there.
enum class ItemRule {
  kSize,
  kArea,
  kDuration,
  kDurationArea, // duration² × size
  kSizeFlush,    // size; better when its top or its sides continue those of its neighbours
  kAreaFlush,
  kDurationAreaFlush,
  kCount,
};

struct SearchStyle {
  StepRule step = StepRule::kFewestTight;
  ItemRule item = ItemRule::kSize;
  uint64_t seed = 0; // other than 0: the weights of the items are disturbed by up to a quarter
};

enum class SearchResult {
  kFound,
  kInfeasible, // proven
  kStopped,    // by its limit, or by the meter's
};

class ValleySearch {
public:
  /// Whether the problem is small enough: the memory of a search grows with (items + steps) ×
  /// depth.
  static bool canSearch(const Problem &problem);

  /// Keeps no reference to the problem. canSearch(problem) must hold.
  explicit ValleySearch(const Problem &problem);
  ~ValleySearch();
  ValleySearch(const ValleySearch &) = delete;
  ValleySearch &operator=(const ValleySearch &) = delete;

  /// Searches at most nodeLimit nodes. kFound fills offsets, one per item. Failed states are
  /// remembered across calls.
  SearchResult run(uint64_t capacity, const SearchStyle &style, uint64_t nodeLimit,
                   WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  struct Engines;
  std::unique_ptr<Engines> engines_;
};

} // namespace gantry::plan

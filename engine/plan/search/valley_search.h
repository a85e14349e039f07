// The exact search: decides whether all items can be placed below a capacity.
//
// The search fills addresses from below. The floor of a step is the offset below which nothing more
// will lie in that step. A valley is a run of steps of equal floor whose neighbours on both sides
// are higher. An item that rests on the floor of a valley lies wholly inside the valley, so nothing
// is buried beneath it. Consider a placement whose items are all pushed down: in any step of a
// valley, the lowest item that is still to be placed either rests on the floor, or lies no lower
// than the next offset at which any item can rest. So a node of the search picks one step and tries
// each item that can rest there; its last choice is a gap up to that next offset. These choices
// exclude each other: no placement is visited twice in another order, and the search may pick any
// step, in particular the one with the fewest choices.
//
// Each node first makes these inferences:
//  - The floor of a step rises to the lowest offset that any remaining item of the step can have.
//  - For each step and each offset p, p plus the sizes of all items that cannot lie below p must
//    not exceed the capacity (scheduling on one machine with release dates: Jackson's rule, 1955).
//  - Where no remaining item crosses from one step to the next, both sides are independent and are
//    solved separately, the smallest first.
//  - States that failed before fail again (failed_states.h).
//  - Among equal items, only the first is tried. An item that spans a whole level part goes to its
//    floor without a choice.
// Sections, inference and decomposition follow Moffitt, "MiniMalloc: A Lightweight Memory Allocator
// for Hardware-Accelerated Machine Learning" (2023), which branches on the next item by offset.
//
// The time of a search varies greatly with the order of its choices, so callers run it in slices of
// different styles (portfolio.h). Alignments and fixed items are kept. A search that ends without a
// placement proves that there is none.
//
// Threads: one per object. Deterministic: equal calls give equal results.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gantry::plan {

/// Rule for the step that is decided next. A step with only one choice always comes first.
enum class StepRule {
  kFewestTight,      // The fewest choices, then the smallest slack.
  kFewestLow,        // The fewest choices, then the lowest floor.
  kNoGapLow,         // Steps that allow no gap, then the fewest choices, then the lowest floor.
  kNoGapLowestFirst, // Steps that allow no gap, then the lowest floor, then the fewest choices.
  kNoGapWide,        // Steps that allow no gap, then the fewest choices, then the widest valley.
};

/// Rule for the item that is tried first: the one of the largest weight. The weight of a flush rule
/// grows where the item's top or sides continue those of its neighbours.
enum class ItemRule {
  kSize,
  kArea,
  kDuration,
  kDurationArea, // Duration² × size.
  kSizeFlush,
  kAreaFlush,
  kDurationAreaFlush,
};

struct SearchStyle {
  StepRule step = StepRule::kFewestTight;
  ItemRule item = ItemRule::kSize;
  uint64_t seed = 0; // Not 0: the weights of the items are randomly changed by up to a quarter.
};

enum class SearchResult {
  kFound,
  kInfeasible, // Proven: there is no placement.
  kStopped,    // By the node limit or the meter.
};

class ValleySearch {
public:
  /// Returns whether the problem is small enough: the memory of a search grows with (items + steps)
  /// × depth.
  static bool canSearch(const Problem &problem);

  /// Keeps no reference to the problem. canSearch(problem) must hold.
  explicit ValleySearch(const Problem &problem);
  ~ValleySearch();
  ValleySearch(const ValleySearch &) = delete;
  ValleySearch &operator=(const ValleySearch &) = delete;

  /// Searches at most nodeLimit nodes. kFound fills offsets, one per item. Failed states are
  /// remembered across calls.
  SearchResult run(uint64_t capacityBytes, const SearchStyle &style, uint64_t nodeLimit,
                   WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  struct Engines;
  std::unique_ptr<Engines> engines_;
};

} // namespace gantry::plan

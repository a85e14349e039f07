// The exact search: decides whether all items (sizes with lifetimes, problem.h) can be placed below
// a capacity, and finds their offsets.
//
// The search fills addresses from below. The floor of a step of time is the offset below which
// nothing more will lie in that step. A valley is a run of steps with equal floors whose neighbours
// on both sides are higher. An item can rest on the valley's floor only if its lifetime lies wholly
// inside the valley; a longer item also lies above a higher neighbour. Consider a placement in
// which every item is pushed down as far as possible. In each step of a valley, the lowest item
// that is still to be placed either rests on the floor, or lies no lower than the lowest offset
// above the floor at which any item can rest. A node of the search therefore picks one step and
// tries each item that can rest there; the last choice is a gap up to that offset. These choices
// exclude each other, so no placement is visited twice, and the search may pick any step, for
// example the step with the fewest choices.
//
// Each node of the search tree first makes these inferences:
//  - The floor of a step rises to the lowest offset that any remaining item of the step can have.
//  - For each step and each offset p, p plus the sizes of all items that cannot lie below p must
//    not exceed the capacity (scheduling on one machine with release dates: Jackson's rule, 1955).
//  - Where no remaining item crosses from one step to the next, the sides are independent parts.
//    They are solved separately, the part with the fewest items first.
//  - States that failed before are not searched again (failed_states.h).
//  - Among equal items, only the first is tried. If all floors of a part are equal, an item that
//    spans the whole part goes to the floor without a choice.
// Steps, inference and decomposition follow Moffitt, "MiniMalloc: A Lightweight Memory Allocator
// for Hardware-Accelerated Machine Learning" (2023), which calls the steps sections and branches on
// the next item by offset.
//
// The time of a search varies greatly with the order of its choices, so callers run it in slices of
// different styles (portfolio.h). Alignments are kept. A search that examines all
// choices without finding a placement proves that there is none (kInfeasible).
//
// Threads: one at a time per object. Deterministic: equal sequences of calls give equal results.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gantry::plan {

/// Rule for the step that is decided next. A step with only one choice always comes first. The
/// slack of a step is the capacity less a lower bound on the height that the step's items need.
enum class StepRule {
  kFewestTight,      // The fewest choices, then the smallest slack.
  kFewestLow,        // The fewest choices, then the lowest floor.
  kNoGapLow,         // Steps that allow no gap, then the fewest choices, then the lowest floor.
  kNoGapLowestFirst, // Steps that allow no gap, then the lowest floor, then the fewest choices.
  kNoGapWide,        // Steps that allow no gap, then the fewest choices, then the widest valley.
};

/// Rule for the order in which items are tried: by a weight, the largest first. A flush rule raises
/// the weight if the item's top is level with an adjacent floor, or if the item touches both edges
/// of the valley.
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
  // If not 0, the numbers by which the item rule compares items are changed at random by up to a
  // quarter.
  uint64_t seed = 0;
};

enum class SearchResult {
  kFound,
  kInfeasible, // Proven: there is no placement.
  kStopped,    // The limit on nodes or depth was reached, or the meter is exhausted.
};

class ValleySearch {
public:
  /// Returns whether the problem is small enough: the memory of a search grows with (items + steps)
  /// × depth, and heights must fit 61 bits.
  static bool canSearch(const Problem &problem);

  /// Keeps no reference to the problem. canSearch(problem) must hold.
  explicit ValleySearch(const Problem &problem);
  ~ValleySearch();
  ValleySearch(const ValleySearch &) = delete;
  ValleySearch &operator=(const ValleySearch &) = delete;

  /// Searches for a placement within the capacity and examines at most nodeLimit nodes. kFound
  /// fills offsets, in bytes, one per item. Failed states are remembered across calls.
  SearchResult run(uint64_t capacityBytes, const SearchStyle &style, uint64_t nodeLimit,
                   WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  struct Engines;
  std::unique_ptr<Engines> engines_;
};

} // namespace gantry::plan

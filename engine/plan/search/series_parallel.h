// Joins items (each has a size and a lifetime and gets an offset, problem.h) to boxes, which makes
// a problem smaller. A solver that places the boxes places all items.
//
// There are two kinds of join. Parallel: two items of the same lifetime and alignment become one
// box, the second on top of the first. Series: where an item ends at the moment at which another
// item of the same size begins, the second takes the place of the first, and both become one box
// that lives longer. Boxes join again, so a graph of repeated layers, or a set of items that was
// made by cutting one rectangle, shrinks by orders of magnitude. These joins do not change the load
// of any step (the sum of its live sizes), so the lower bound (the largest load) stays the same.
// With a tolerance, series joins of unequal sizes are made too: the box is as large as the larger
// part, and the load grows by the difference.
//
// Why it works: take a placement that is as low as the bound, and a moment at which the load
// equals the bound both in the step before and in the step after. The items that begin at that
// moment must fill exactly the addresses that the ending items leave. If exactly one item ends and
// one begins at a moment, there is no choice; those joins are made first. Next come moments at
// which the boxes that end and those that begin match in pairs of equal size, then single pairs of
// equal size. Last, where one box ends and another begins, the larger one is taken apart again if
// some of its parts together have the size of the smaller one; these parts are joined with the
// smaller one. The idea of boxes is from Buchsbaum et al. 2003, "OPT versus LOAD in dynamic storage
// allocation"; the reduction resembles that of two-terminal series-parallel graphs (Valdes, Tarjan
// & Lawler 1982): series joins go along time, parallel joins along addresses.
//
// The joins are a heuristic: a join may exclude every optimal plan. Callers therefore also place
// the items without boxes, unless the boxes are very few.
//
// Cost: near linear time for the joins, because only a fixed number of the items that end or begin
// at a moment are compared, and O(b log b) to compress the time of the b remaining boxes; about 90
// bytes per item.
// Threads: a finished object is read-only and may be shared. Deterministic.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::plan {

/// A box has one or two parts; a leaf has none and is an item. A box that has only one
/// part is a copy of that part, made when the box around it was taken apart. If two parts begin
/// together, the second lies above the first. Otherwise the second begins when the first ends, and
/// both have the same offset.
struct PlanBox {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t size = 0;
  uint32_t first = kNone;
  uint32_t second = kNone;
};

class SeriesParallel {
public:
  /// Joins items until none of those that are compared can be joined. Sizes in a series join may
  /// differ by at most `tolerance` times the larger one. Keeps no reference to the problem.
  SeriesParallel(const Problem &problem, double tolerance);

  /// Returns the remaining boxes as a problem with a compressed time of its own.
  const Problem &reduced() const { return reduced_; }

  /// Returns the placement of the original items within the placed boxes.
  Placement expand(const Placement &boxes) const;

private:
  std::vector<uint32_t> items_; // By begin.
  std::vector<PlanBox> nodes_;  // The leaves in the order of items_, then boxes after their parts.
  std::vector<uint32_t> roots_; // The node of each item of reduced_.
  Problem reduced_;
};

/// Tries the tolerances 0, 0.001 and 0.01 in turn and keeps the first result with at most 1/64 as
/// many boxes as items. If there is none, the result is that of tolerance 0. Returns nothing if
/// tolerance 0 leaves more than half as many boxes as items, because a search is then better spent
/// on the items. Also returns nothing if a size is not a multiple of its item's alignment.
std::optional<SeriesParallel> joinToFew(const Problem &problem);

} // namespace gantry::plan

// Joins items that should lie together to boxes, which makes a problem smaller.
//
// Two kinds of join cost nothing at the moment when they are made. A parallel join: two items of
// the same lifetime become one box, the second on top of the first. A series join: where an item
// ends at the moment at which another item of the same size begins, the second takes the place of
// the first, and both become one box that lives longer. Boxes join again, so a graph of repeated
// layers, or a packing that was cut from one block, shrinks by orders of magnitude. A solver that
// places the remaining boxes places all items. The load of no step grows, so the lower bound stays
// the same. With a tolerance, series joins of unequal sizes are made too: the box is as large as
// the larger part, and the load grows by the difference.
//
// Why it works: where the load is at the bound before and after a moment, the items that begin must
// fill exactly the addresses that the ending items leave. Where one item ends and one begins there
// is no choice; those joins are made first. Next come moments where the sizes that end equal the
// sizes that begin, then single pairs of equal size. Last, a box is taken apart again where some of
// its parts fit another box. The idea of boxes is from Buchsbaum et al. 2003, "OPT versus LOAD in
// dynamic storage allocation"; the reduction is that of two-terminal series-parallel graphs
// (Valdes, Tarjan & Lawler 1982), with time as one direction and addresses as the other.
//
// The joins are a heuristic: a join may exclude every optimal plan, so callers keep the better of a
// plan with boxes and a plan without. Fixed items are never joined.
//
// Cost: O(n log n) time for the sort and near linear time for the rest, because lists are searched
// to a fixed depth; about 90 bytes per item. Threads: no shared state. Deterministic.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::plan {

/// A box of one or two parts; a leaf has none. If both parts begin together, the second lies above
/// the first; otherwise the second begins when the first ends and takes its place.
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
  /// Joins all items that can be joined. Sizes in a series join may differ by at most `tolerance`
  /// times the larger one. Keeps no reference to the problem.
  SeriesParallel(const Problem &problem, double tolerance);

  /// Returns the remaining boxes as a problem in its own compressed time.
  const Problem &reduced() const { return reduced_; }

  /// Returns the placement of the original items within the placed boxes.
  Placement expand(const Placement &boxes) const;

private:
  std::vector<uint32_t> items_; // By begin.
  std::vector<PlanBox> nodes_;  // The leaves in the order of items_, then boxes after their parts.
  std::vector<uint32_t> roots_; // The node of each item of reduced_.
  Problem reduced_;
};

/// Joins with the smallest tolerance of 0, 0.001 and 0.01 that leaves at most a 64th of the items
/// as boxes; where none does, without tolerance. Returns nothing where more than half of the items
/// would be left, since a search is then better spent on the items, or where a size is no multiple
/// of its alignment.
std::optional<SeriesParallel> joinToFew(const Problem &problem);

} // namespace gantry::plan

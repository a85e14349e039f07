// Boxes: a problem made smaller by joining items that want to lie together.
//
// Two joins are known to cost nothing at the moment they are made. Parallel: two items of the same
// lifetime become one, the second on top of the first. Series: where one item ends at the very
// moment at which another of the same size begins, the second takes the place of the first, and
// both become one item that lives longer. Joined items join again, so that a graph of repeated
// layers, or a packing that was cut from one block, shrinks by orders of magnitude; whatever solver
// places the few boxes that remain places all items with them. The load of no step grows, so the
// lower bound stays what it was. With a tolerance, series joins of unequal sizes are made too: the
// box is as large as the larger one, and the load grows by the difference.
//
// Why it works: at a moment at which the load is at the bound before and after, what begins must
// fill exactly the addresses that what ends has left. Where one item ends and one begins, there is
// no choice at all; those joins are made first. Where several do, equal multisets of sizes come
// next, then single equal pairs, and last boxes are taken apart again where a part of them is what
// fits. The idea of boxes is that of Buchsbaum et al. 2003, "OPT versus LOAD in dynamic storage
// allocation"; the reduction is that of two-terminal series-parallel graphs (Valdes, Tarjan &
// Lawler 1982), with time for one direction and addresses for the other.
//
// What it is not: exact. A join may exclude every optimal plan, so callers keep the better of a
// plan with and one without. Fixed items and segments are left as they are: a fixed item is never
// joined, segments are not looked at, an item counts as its box.
//
// Cost: O(n log n) time for the sort, the rest is near linear (lists are searched to a fixed
// depth); about 90 bytes per item. Threads: no shared state. Deterministic.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::plan {

/// A box of one or two parts; a leaf has none. Two parts that begin together lie side by side, the
/// second above the first; otherwise the second begins when the first ends, and takes its place.
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
  /// Joins what can be joined. A series join of unequal sizes is made where they differ by at most
  /// tolerance times the larger one. Keeps no reference to the problem.
  SeriesParallel(const Problem &problem, double tolerance);

  /// The boxes that remain, in compressed time, with their own lower bound.
  const Problem &reduced() const { return reduced_; }

  /// Gives each item of the original problem its place within the placed boxes.
  Placement expand(const Placement &boxes) const;

private:
  std::vector<uint32_t> items_; // by begin
  std::vector<PlanBox> nodes_;  // first the leaves, in the order of items_; parts before their box
  std::vector<uint32_t> roots_; // the node of each item of reduced_
  Problem reduced_;
};

/// Boxes where they are worth it: nothing where more than half as many as items are left, since
/// then it is the items that are worth the work, or where there are regions, whose borders a box
/// might not keep, or sizes that are no multiples of their alignments. Else those of the smallest
/// tolerance (none, a thousandth, a hundredth) that leaves next to nothing to choose, at most a
/// 64th of the items; where none does, those without tolerance.
std::optional<SeriesParallel> joinToFew(const Problem &problem);

} // namespace gantry::plan

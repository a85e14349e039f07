// Runs the exact search for offsets (valley_search.h) in short slices of different styles
// (SearchStyle: the rules by which the search orders its choices).
//
// The time of an exact search varies by orders of magnitude with the order of its choices, so many
// short searches find placements that one long search misses (Gomes, Selman & Kautz 1998, "Boosting
// combinatorial search through randomization"). The lengths of the slices follow Luby, Sinclair &
// Zuckerman 1993. The first slices use each pair of a step rule and an item rule once. An item rule
// compares items by a number, such as their size. Later slices repeat the pairs, but change these
// numbers at random, each slice with another seed (SearchStyle::seed). Lengths are counted in nodes
// of the search, not in time, so equal sequences of calls give equal results, unless the meter has
// a deadline.
//
// Threads: one at a time per object.
#pragma once

#include "engine/plan/search/valley_search.h"

namespace gantry::plan {

/// A portfolio over one problem. Each call of fit() may use another capacity and continues the
/// sequence of slices where the last call ended.
class Portfolio {
public:
  /// ValleySearch::canSearch(problem) must hold. The problem must outlive the portfolio.
  explicit Portfolio(const Problem &problem) : problem_(problem), search_(problem) {}

  /// Runs slices until one finds a placement within the capacity (kFound; fills offsets, one per
  /// item) or proves that there is none (kInfeasible). If the meter is exhausted first: kStopped.
  SearchResult fit(uint64_t capacityBytes, WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  const Problem &problem_;
  ValleySearch search_;
  uint32_t nextSlice_ = 0;
};

} // namespace gantry::plan

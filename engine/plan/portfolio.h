// Runs the exact search in slices of different styles, because how long a search takes varies by
// orders of magnitude with the order of its choices: many short searches find what one long one
// misses (Gomes, Selman & Kautz 1998, "Boosting combinatorial search through randomization"). The
// slices' lengths follow Luby, Sinclair & Zuckerman 1993; the styles go around, undisturbed at
// first, then with other seeds. All is counted in nodes, so equal problems give equal results.
//
// Threads: pure functions.
#pragma once

#include "engine/plan/valley_search.h"

namespace gantry::plan {

/// A portfolio over one problem, which can be asked for several capacities in turn.
class Portfolio {
public:
  /// ValleySearch::canSearch(problem) must hold; the problem must outlive the portfolio.
  explicit Portfolio(const Problem &problem, uint32_t firstSlice = 0)
      : problem_(problem), search_(problem), nextSlice_(firstSlice) {}

  /// Runs `slices` slices more at this capacity. kStopped: they ended without an answer, or the
  /// meter did.
  SearchResult fit(uint64_t capacity, WorkMeter &meter, std::vector<uint64_t> &offsets);

  /// Where another portfolio over a problem like this one may go on.
  uint32_t nextSlice() const { return nextSlice_; }

private:
  const Problem &problem_;
  ValleySearch search_;
  uint32_t nextSlice_;
};

/// The best of what was found, and what is proven.
struct Optimum {
  Placement best;
  uint64_t bound = 0; // no placement is lower
  bool proven() const { return best.height == bound; }
};

/// Lowers `start`, a valid placement, towards the problem's bound, in rounds of twice the work: the
/// large-neighbourhood search where all items are boxes, the portfolio at the bound itself, then at
/// capacities between; where alignments differ, over several roundings of the sizes first. Stops at
/// `target` or lower, when the best is proven, or with the meter.
Optimum minimise(const Problem &problem, Placement start, uint64_t target, WorkMeter &meter);

} // namespace gantry::plan

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
  explicit Portfolio(const Problem &problem) : problem_(problem), search_(problem) {}

  /// Runs `slices` slices more at this capacity. kStopped: they ended without an answer, or the
  /// meter did.
  SearchResult fit(uint64_t capacity, WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  const Problem &problem_;
  ValleySearch search_;
  uint32_t nextSlice_ = 0;
};

} // namespace gantry::plan
